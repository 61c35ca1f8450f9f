// What has to go from a cache folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace baton {

struct Evicted {
  size_t entries = 0;
  uint64_t bytes_left = 0;
};

/// Removes the least recently used entries and index files until at most `max_bytes` are left. A
/// time of use in the future becomes now: after the clock was set back it would never be the
/// oldest. What somebody is compiling stays.
Evicted evict(const std::filesystem::path& folder, uint64_t max_bytes);

struct Pruned {
  size_t damaged = 0;      ///< entries
  size_t index_files = 0;  ///< damaged or dangling
  size_t left_over = 0;    ///< by killed processes
  size_t evicted = 0;      ///< whole entries, to keep the bound
  uint64_t bytes_left = 0;
};

/// Removes what is damaged, dangling or left over, then evicts. Throws Error (environment) when the
/// folder cannot be read or written.
Pruned prune_cache(const std::filesystem::path& folder, uint64_t max_bytes);

}  // namespace baton
