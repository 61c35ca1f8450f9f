#include "runtime/device/hip/hip_platform.h"

#include <algorithm>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/device/hip/hip_device.h"
#include "runtime/device/hip/hip_library.h"

namespace baton::hip {
namespace {

/// The chip among a device's properties. Where it stands differs between versions; it is the one
/// text that begins with gfx behind the name, which comes first.
std::string chip_in(const std::vector<char>& properties) {
  constexpr size_t kNameBytes = 256;
  std::string_view rest(properties.data() + kNameBytes, properties.size() - kNameBytes);
  const size_t start = rest.find("gfx");
  if (start == rest.npos) return {};
  rest.remove_prefix(start);
  constexpr std::string_view kOfNames = "gfx0123456789abcdef";
  return std::string(rest.substr(0, rest.find_first_not_of(kOfNames)));
}

}  // namespace

Platform::Platform() : library_(std::make_unique<Library>()) {
  int count = 0;
  const Code code = library_->call().hipGetDeviceCount(&count);
  if (code == kNoDevice) count = 0;
  if (code != kNoDevice) library_->check_machine(code, "count its devices");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    char name[256] = {};
    library_->check_machine(library_->call().hipDeviceGetName(name, sizeof name - 1, ordinal),
                            fmt::format("name device {}", ordinal));
    std::vector<char> properties(kPropertiesBytes);
    library_->check_machine(library_->call().hipGetDeviceProperties(properties.data(), ordinal),
                            fmt::format("tell the properties of device {}", ordinal));
    gpus_.push_back({.ordinal = ordinal, .name = name, .chip = chip_in(properties)});
  }
  devices_.resize(gpus_.size());
}

Platform::~Platform() = default;

const std::string& Platform::library() const { return library_->name(); }

Device& Platform::device(int ordinal) {
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= gpus_.size()) {
    throw Error(ErrorKind::user,
                fmt::format("there is no device {}: HIP sees {}", ordinal, gpus_.size()),
                "`baton devices` lists them");
  }
  const Gpu& gpu = gpus_[static_cast<size_t>(ordinal)];
  std::unique_ptr<Device>& device = devices_[static_cast<size_t>(ordinal)];
  if (device) return *device;
  const auto known = all_targets();
  const auto target = std::ranges::find(known, gpu.chip, &Target::chip);
  if (target == known.end()) {
    throw Error(ErrorKind::environment,
                fmt::format("device {} ({}) is a {}, for which Baton has no kernels", ordinal,
                            printable(gpu.name), gpu.chip.empty() ? "chip without name" : gpu.chip),
                "`baton devices` lists what there is");
  }
  device = make_device(*library_, gpu, *target);
  return *device;
}

}  // namespace baton::hip
