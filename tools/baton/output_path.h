// Outputs of a long run are refused before it, not after.
#pragma once

#include <filesystem>
#include <string_view>

namespace baton::cli {

/// Both throw Error (user) that begins with `flag`, when the path could not be written: what it
/// lies in is no folder or may not be written, or something of another kind has its name.
void require_output_file(std::string_view flag, const std::filesystem::path& file);
/// A folder that may have to be made, inside one that is there.
void require_output_folder(std::string_view flag, const std::filesystem::path& folder);

/// Whether both name one place, however they are spelt.
bool is_same_path(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace baton::cli
