#include "runtime/base/environment.h"

#include <cstdlib>

namespace baton {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace baton
