// A builder without a compiler: a code object of the test kernels, made different for each key.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/loader.h"
#include "tests/runtime/object/test_objects.h"

namespace baton::tests {

inline BuildKey stub_key(int64_t tokens, const std::string& chip = "gfx950") {
  return BuildKey("stub", {{"tokens", tokens}}, chip);
}

inline std::vector<BuildKey> stub_keys(int count) {
  std::vector<BuildKey> keys;
  for (int i = 1; i <= count; ++i) keys.push_back(stub_key(i));
  return keys;
}

/// The code object that `key` gives: bytes behind the ELF file tell the keys apart, and the record
/// says what the ELF says.
inline CodeObject stub_object(const BuildKey& key) {
  static const Bytes elf = test_object("gfx950-v5.co");
  CodeObject object{.bytes = elf, .record = {}};
  const std::string tail = key.text() + "@" + key.chip();
  object.bytes.insert(object.bytes.end(), tail.begin(), tail.end());
  const ElfImage image = ElfImage::parse(object.bytes, "stub");
  const Kernel& kernel = image.kernels().front();
  Record& record = object.record;
  record.key = key.text();
  record.chip = image.chip();
  record.kernel = kernel.name;
  record.sha256 = sha256(object.bytes).hex();
  record.resources = resources_of(kernel, kernel.max_workgroup_lanes, 1);
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.value_kind.starts_with("hidden_")) continue;
    RecordArgument& written = record.arguments.emplace_back();
    written.name = "a" + std::to_string(argument.offset);
    written.kind = argument.size == 8 ? ArgumentKind::buffer : ArgumentKind::i32;
    written.dtype = "i32";
    written.offset = argument.offset;
    written.size = argument.size;
  }
  return object;
}

struct StubOptions {
  std::string library = "library one";
  /// Of every content: what an edited pass changes.
  std::string pipeline = "pipeline one";
  std::filesystem::path log = {};  ///< gets a line "trace KEY" or "compile KEY" each time
  std::chrono::milliseconds compile_time{0};
  int64_t refused = -1;  ///< this count of tokens does not compile
};

class StubBuilder : public CodeBuilder {
 public:
  explicit StubBuilder(StubOptions options)
      : options_(std::move(options)), library_(sha256(as_bytes(options_.library))) {}

  const Digest& library() const override { return library_; }

  std::unique_ptr<TracedKey> trace(const BuildKey& key) const override {
    note("trace", key);
    return std::make_unique<Traced>(*this, key);
  }

 private:
  class Traced : public TracedKey {
   public:
    Traced(const StubBuilder& builder, const BuildKey& key)
        : builder_(builder),
          key_(key),
          content_(sha256_of(std::array<std::string_view, 2>{builder.options_.pipeline,
                                                             key.text() + key.chip()})) {}
    const Digest& content() const override { return content_; }
    CodeObject compile() override {
      builder_.note("compile", key_);
      std::this_thread::sleep_for(builder_.options_.compile_time);
      if (key_.integer("tokens") == builder_.options_.refused) {
        throw Error(ErrorKind::user,
                    "tokens " + std::to_string(builder_.options_.refused) + " spills 3 registers",
                    "use fewer tokens");
      }
      return stub_object(key_);
    }

   private:
    const StubBuilder& builder_;
    BuildKey key_;
    Digest content_;
  };

  void note(const char* what, const BuildKey& key) const {
    if (options_.log.empty()) return;
    const std::string line = std::string(what) + " " + key.text() + "\n";
    const int fd = ::open(options_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    BATON_CHECK(::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    ::close(fd);
  }

  StubOptions options_;
  Digest library_;
};

}  // namespace baton::tests
