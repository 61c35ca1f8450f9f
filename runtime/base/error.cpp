#include "runtime/base/error.h"

namespace baton {

void fail_check(const char* file, int line, const char* condition, const std::string& detail) {
  throw Error(
      ErrorKind::failed_check,
      fmt::format("internal check failed: {}{}{}", condition, detail.empty() ? "" : ": ", detail),
      "this is a fault of Baton: please report it with the command that showed it",
      fmt::format("{}:{}", file, line));
}

}  // namespace baton
