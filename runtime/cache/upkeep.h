// The cache as a whole: what is in it, and whether it is sound.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace baton {

enum class Soundness {
  sound,
  other_version,  ///< whole, of a version of Baton with another record format
  damaged,
};

struct CachedCode {
  std::filesystem::path folder;
  std::string content;  ///< the folder's name
  std::string key;      ///< empty when damaged, like chip
  std::string chip;
  uint64_t bytes = 0;        ///< on disk, with its record
  int64_t last_used_ns = 0;  ///< since 1970
  Soundness soundness = Soundness::sound;
  std::string damage;  ///< one line that names the file
};

/// Every entry, by key, chip and content. `thorough` reads and checks every byte; else only
/// entry.json is read. An absent folder is an empty cache.
std::vector<CachedCode> list_cache(const std::filesystem::path& folder, bool thorough);

struct CacheHealth {
  std::vector<CachedCode> entries;
  std::vector<std::string> damaged_index;  ///< a line each that names the file
  size_t index_files = 0;
  size_t dangling = 0;   ///< index files whose entry has gone: harmless
  size_t left_over = 0;  ///< what killed processes left: harmless
  size_t future = 0;     ///< last used in the future: the clock was set back since

  size_t damaged() const;
};

/// Checks every byte of the folder and changes nothing.
CacheHealth check_cache(const std::filesystem::path& folder);

}  // namespace baton
