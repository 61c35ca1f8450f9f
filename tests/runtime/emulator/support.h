// Programs for the emulated chips, from assembly or C text, and small helpers around a device.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/device/device.h"
#include "runtime/emulator/emulator.h"

namespace baton::tests {

/// Compiles `text` ("assembler" or "c") for a chip. The same text is compiled once a process.
inline const Bytes& compile_text(const std::string& text, const std::string& language,
                                 const std::string& chip, const std::string& options = "-O2") {
  static std::map<std::string, Bytes> cache;
  const std::string key = language + '\0' + chip + '\0' + options + '\0' + text;
  if (const auto found = cache.find(key); found != cache.end()) return found->second;
  char folder[] = "/tmp/baton-emulator-test-XXXXXX";
  if (!mkdtemp(folder)) throw Error(ErrorKind::environment, "no temporary folder");
  const std::string base = folder;
  const bool c = language == "c";
  std::ofstream(base + "/kernel." + (c ? "c" : "s")) << text;
  const std::string command = std::string("cd ") + base + " && " BATON_CLANG +
                              " -target amdgcn-amd-amdhsa -nogpulib -mcpu=" + chip + " " + options +
                              " kernel." + (c ? "c" : "s") + " -o kernel.co 2> log";
  const int status = std::system(command.c_str());
  if (status != 0) {
    std::ifstream log(base + "/log");
    const std::string why((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
    std::filesystem::remove_all(base);
    throw Error(ErrorKind::failed_check, "the test program does not compile:\n" + why);
  }
  Bytes bytes = read_file(base + "/kernel.co");
  std::filesystem::remove_all(base);
  return cache.emplace(key, std::move(bytes)).first->second;
}

/// Arguments one behind the other, each at its natural alignment.
class Arguments {
 public:
  template <typename T>
  Arguments& add(T value) {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto* p = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), p, p + sizeof(T));
    return *this;
  }
  operator ByteView() const { return bytes_; }  // NOLINT

 private:
  Bytes bytes_;
};

/// A typed array in a device's memory.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(Device& device, const std::vector<T>& values)
      : device_(device),
        size_(values.size()),
        address_(device.allocate(values.size() * sizeof(T), MemoryKind::normal)) {
    device.write(address_, {reinterpret_cast<const uint8_t*>(values.data()), size_ * sizeof(T)});
  }
  DeviceArray(Device& device, size_t size) : DeviceArray(device, std::vector<T>(size)) {}
  DeviceAddress address() const { return address_; }
  std::vector<T> read() const {
    std::vector<T> values(size_);
    device_.read(address_, {reinterpret_cast<uint8_t*>(values.data()), size_ * sizeof(T)});
    return values;
  }

 private:
  Device& device_;
  size_t size_;
  DeviceAddress address_;
};

}  // namespace baton::tests
