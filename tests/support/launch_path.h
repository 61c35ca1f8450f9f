// A kernel that is launched but never waited for: the way from Runner's calls to the device's door.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "builds/families.h"
#include "builds/key_builder.h"
#include "runtime/base/error.h"
#include "runtime/device/hip/hip_platform.h"
#include "runtime/emulator/emulator.h"
#include "runtime/runner.h"
#include "tests/runtime/watched_device.h"

namespace baton::tests {

/// attn_post of one rank with a value for each argument.
class LaunchPath {
 public:
  LaunchPath(Device& device, const CodeObject& object)
      : runner_(device, object, 0), arguments_(runner_.arguments()) {
    for (const RecordArgument& argument : object.record.arguments) {
      if (is_runner_argument(argument.name)) continue;
      caller_.push_back(arguments_.index(argument.name));
    }
    set_all(0);
  }

  /// What a server does whose tensors may move between steps: every argument is set.
  void set_all(uint64_t value) {
    for (const size_t index : caller_) arguments_.set(index, value);
  }
  void step_begin() { runner_.step_begin(); }
  void launch() { runner_.launch(arguments_); }

 private:
  Runner runner_;
  KernelArguments arguments_;
  std::vector<size_t> caller_;
};

inline const CodeObject& launched_object() {
  static const CodeObject object =
      builds::KeyBuilder().trace(builds::complete_key("attn_post:tokens=8", "gfx950"))->compile();
  return object;
}

/// An emulated device that calls `hook` when something is put into a stream.
struct EmulatorDoor {
  explicit EmulatorDoor(void (*hook)()) { device.on_enqueue = hook; }

  emulator::Emulator emulator{{.chip = "gfx950", .devices = 1}};
  WatchedDevice device{emulator.device(0)};
};

/// A device of the stand-in library, which calls `hook` when it is asked for something.
struct HipDoor {
  HipDoor(const char* library, void (*hook)()) {
    ::setenv("BATON_HIP_LIBRARY", library, 1);
    ::setenv("BATON_STANDIN_DEVICES", "1", 1);
    platform = std::make_unique<hip::Platform>();
    void* const handle = ::dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    BATON_CHECK(handle != nullptr, library);
    const auto on_call =
        reinterpret_cast<void (*)(void (*)())>(::dlsym(handle, "baton_standin_on_call"));
    BATON_CHECK(on_call != nullptr, library);
    on_call(hook);
  }

  std::unique_ptr<hip::Platform> platform;
};

}  // namespace baton::tests
