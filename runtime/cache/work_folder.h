// Where a cache entry is made before it takes its place in one rename.
#pragma once

#include <filesystem>

#include "runtime/base/descriptor.h"

namespace baton {

/// A new folder below `parent` that goes away with its scope. Its maker holds a lock on it as long
/// as it lives, so that what a killed process left can be told from what is in use.
class WorkFolder {
 public:
  /// Throws Error (environment) that names the folder.
  explicit WorkFolder(const std::filesystem::path& parent);
  WorkFolder(const WorkFolder&) = delete;
  ~WorkFolder();

  const std::filesystem::path& path() const { return path_; }

  /// A name below `parent` that nothing of this process has.
  static std::filesystem::path unused_name(const std::filesystem::path& parent);

  /// Removes what processes that are no longer there left below `parent`; how many.
  static int sweep(const std::filesystem::path& parent);

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

}  // namespace baton
