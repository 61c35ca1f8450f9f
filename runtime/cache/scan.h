// What the upkeep of a cache folder reads of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "runtime/cache/index_file.h"

namespace baton {

/// The paths in a folder, sorted; none when it is not there. Throws Error (environment).
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder);

struct Usage {
  uint64_t bytes = 0;
  int64_t last_used_ns = 0;  ///< since 1970
};

/// Of a file of the index; zeros when it is gone.
Usage usage_of_file(const std::filesystem::path& path);
/// Of an entry: the bytes of its files, the time of its entry.json.
Usage usage_of_entry(const std::filesystem::path& folder);

/// Whether a time of use is later than now by more than clocks of a network differ.
bool is_future(int64_t last_used_ns);

/// read_index_file, which also has to stand under the name of what it holds.
IndexEntry read_named_index_file(const std::filesystem::path& path);

}  // namespace baton
