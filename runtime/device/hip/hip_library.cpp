#include "runtime/device/hip/hip_library.h"

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::hip {
namespace {

/// Of ROCm 7, 6 and 5, then whatever a development package links to.
constexpr const char* kNames[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                  "libamdhip64.so"};

constexpr LibrarySearch kSearch = {
    .what = "HIP runtime",
    .variable = "BATON_HIP_LIBRARY",
    .names = kNames,
    .hint = "install ROCm's HIP runtime, or name its library in BATON_HIP_LIBRARY"};

constexpr const char* kDriverHint =
    "is there an AMD GPU, its driver, and permission to use /dev/kfd?";

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

}  // namespace

Library::Library() : library_(kSearch) {
#define BATON_HIP_FIND(name, parameters) library_.find(functions_.name, #name);
  BATON_HIP_FUNCTIONS(BATON_HIP_FIND)
#undef BATON_HIP_FIND
  library_.find(functions_.hipGetErrorString, "hipGetErrorString");
  const Code code = functions_.hipInit(0);
  // That is how a machine without a GPU answers: it has no devices, and the library is sound.
  if (code != kSuccess && code != kNoDevice && code != kInvalidDevice) {
    throw Error(
        ErrorKind::environment,
        fmt::format("{} does not start: {}", name(), printable(functions_.hipGetErrorString(code))),
        kDriverHint);
  }
}

void Library::check(Code code, const std::string& doing) const {
  if (code == kSuccess) return;
  throw Error(kind_of(code), sentence(code, doing));
}

void Library::check_machine(Code code, const std::string& doing) const {
  if (code != kSuccess) throw Error(ErrorKind::environment, sentence(code, doing), kDriverHint);
}

std::string Library::sentence(Code code, const std::string& doing) const {
  return fmt::format("HIP cannot {}: {} (error {})", doing,
                     printable(functions_.hipGetErrorString(code)), code);
}

}  // namespace baton::hip
