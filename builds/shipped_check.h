// A shipped folder held against its manifest.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builds/matrix.h"
#include "runtime/cache/manifest.h"

namespace baton::builds {

/// Where a matrix folder keeps how long each content took to compile.
std::filesystem::path times_folder(const std::filesystem::path& folder);

/// What lies below v1 and is not of the manifest: code objects and their names, of this or another
/// library build, and files that are nobody's. Throws Error (environment) when that is unreadable.
std::vector<std::filesystem::path> unlisted(const std::filesystem::path& folder,
                                            const Manifest& manifest);

/// Every fault of a shipped folder, a line each that names the file or the key: what its manifest
/// lists and it lacks, what is damaged, what differs from the manifest, what is not listed. With
/// `expected` also the keys that only one of the two knows.
std::vector<std::string> check_shipped(const std::filesystem::path& folder, const Matrix* expected);

/// A key and its chip in an error.
std::string spelt(const std::string& key, const std::string& chip);

}  // namespace baton::builds
