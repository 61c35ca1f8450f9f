// `--timeline FILE`: a trace for a viewer, or a picture.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/collective.h"
#include "runtime/key/build_key.h"

namespace baton::cli {

/// Throws Error (user) for an ending that no writer knows, or a key whose build does not stamp.
void require_timeline(const std::optional<std::string>& file, const BuildKey& key);

/// Writes the last launch's stages, in the time of `clock`; does nothing without a file.
void write_timeline(const std::optional<std::string>& file, Collective& collective,
                    std::string_view clock);

}  // namespace baton::cli
