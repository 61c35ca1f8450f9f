// What a linker leaves in a program or library to tell one link's result from another's.
#pragma once

#include <optional>
#include <string>

namespace baton {

/// The GNU build id, in hex, of the program or shared library of this process that holds `address`.
/// Nothing when no module holds it, or it was linked without --build-id.
std::optional<std::string> build_id_at(const void* address);

}  // namespace baton
