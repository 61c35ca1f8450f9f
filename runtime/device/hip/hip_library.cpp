#include "runtime/device/hip/hip_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::hip {
namespace {

/// Of ROCm 7, 6 and 5, then whatever a development package links to.
constexpr const char* kNames[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                  "libamdhip64.so"};

constexpr const char* kHint =
    "install ROCm's HIP runtime, or name its library in BATON_HIP_LIBRARY";

ErrorKind kind_of(Code code) {
  switch (code) {
    case kInvalidValue:
    case kInvalidImage:
      return ErrorKind::user;
    case kOutOfMemory:
    case kNoDevice:
      return ErrorKind::environment;
    default:
      return ErrorKind::failed_check;
  }
}

void* open_any(std::string& name) {
  const char* own = std::getenv("BATON_HIP_LIBRARY");
  if (own != nullptr && *own != '\0') {
    name = own;
    if (void* handle = ::dlopen(own, RTLD_NOW | RTLD_LOCAL)) return handle;
    throw Error(ErrorKind::environment,
                fmt::format("cannot open BATON_HIP_LIBRARY: {}", printable(::dlerror())), kHint);
  }
  for (const char* known : kNames) {
    name = known;
    if (void* handle = ::dlopen(known, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  throw Error(
      ErrorKind::environment,
      fmt::format("no HIP runtime is installed: none of {} is there", fmt::join(kNames, ", ")),
      kHint);
}

}  // namespace

Library::Library() : handle_(open_any(name_)) {
  const auto find = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle_, symbol));
    if (function != nullptr) return;
    ::dlclose(std::exchange(handle_, nullptr));
    throw Error(ErrorKind::environment, fmt::format("{} has no function {}", name_, symbol), kHint);
  };
#define BATON_HIP_FIND(name, parameters) find(functions_.name, #name);
  BATON_HIP_FUNCTIONS(BATON_HIP_FIND)
#undef BATON_HIP_FIND
  find(functions_.hipGetErrorString, "hipGetErrorString");
  const Code code = functions_.hipInit(0);
  // That is how a machine without a GPU answers: it has no devices, and the library is sound.
  if (code != kSuccess && code != kNoDevice && code != kInvalidDevice) {
    const std::string reason = printable(functions_.hipGetErrorString(code));
    ::dlclose(std::exchange(handle_, nullptr));
    throw Error(ErrorKind::environment, fmt::format("{} does not start: {}", name_, reason),
                "is there an AMD GPU, its driver, and permission to use /dev/kfd?");
  }
}

Library::~Library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void Library::check(Code code, const std::string& doing) const {
  if (code == kSuccess) return;
  throw Error(kind_of(code), fmt::format("HIP cannot {}: {} (error {})", doing,
                                         printable(functions_.hipGetErrorString(code)), code));
}

}  // namespace baton::hip
