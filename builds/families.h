// Every kernel family that Baton builds.
#pragma once

#include <string_view>
#include <vector>

#include "builds/schema.h"

namespace baton::builds {

/// In the order in which they are listed to users.
const std::vector<Family>& families();

/// Throws Error (user) that lists the families.
const Family& find_family(std::string_view name);

/// The whole way from text: parsed, family found, completed and checked. Throws Error (user).
BuildKey complete_key(std::string_view text, std::string_view chip);

}  // namespace baton::builds
