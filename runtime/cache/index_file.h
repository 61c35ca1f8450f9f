// A file of the cache's index: which content a name gave.
#pragma once

#include <filesystem>

#include "runtime/cache/cache.h"

namespace baton {

struct IndexEntry {
  CodeName name;
  Digest content;
};

/// Throws Error like write_file.
void write_index_file(const std::filesystem::path& path, const IndexEntry& entry);

/// Throws Error, one line that starts with the path, when any byte of it has changed.
IndexEntry read_index_file(const std::filesystem::path& path);

}  // namespace baton
