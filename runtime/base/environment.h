// What the environment of the process says.
#pragma once

#include <optional>
#include <string>

namespace baton {

/// The value of a variable that is set and not empty.
std::optional<std::string> environment_variable(const char* name);

}  // namespace baton
