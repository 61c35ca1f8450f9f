// Where things lie below a cache folder. The formats of the files stand with their writers.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/base/digest.h"
#include "runtime/base/work_folder.h"

namespace baton::cache_layout {

/// Rises when a file changes its place, its name or its meaning.
inline constexpr int kFormat = 1;
inline constexpr const char* kCodeFile = "code.co";
inline constexpr const char* kRecordFile = "code.co.json";
inline constexpr const char* kEntryFile = "entry.json";
/// Of every file: whoever could write one could put a kernel there.
inline constexpr mode_t kFileMode = 0644;

/// Of work(): an entry is made there, then takes its place in one rename.
inline constexpr WorkFolderKind kWork = {
    .prefix = "",
    .mode = 0755,
    .hint = "the cache needs a folder that this user may write, on a disk with space"};

inline std::filesystem::path root(const std::filesystem::path& folder) {
  return folder / ("v" + std::to_string(kFormat));
}
inline std::filesystem::path objects(const std::filesystem::path& folder) {
  return root(folder) / "objects";
}
inline std::filesystem::path index(const std::filesystem::path& folder) {
  return root(folder) / "index";
}
inline std::filesystem::path locks(const std::filesystem::path& folder) {
  return root(folder) / "locks";
}
inline std::filesystem::path work(const std::filesystem::path& folder) {
  return root(folder) / "work";
}
inline std::filesystem::path entry(const std::filesystem::path& folder, const Digest& content) {
  return objects(folder) / content.hex();
}
inline std::filesystem::path index_file(const std::filesystem::path& folder, const Digest& name) {
  return index(folder) / (name.hex() + ".json");
}

}  // namespace baton::cache_layout
