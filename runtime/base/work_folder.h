// A folder for what is being made, which goes away with it, also when its maker is killed.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "runtime/base/descriptor.h"

namespace baton {

/// What the work folders below one parent have in common.
struct WorkFolderKind {
  const char* prefix;  ///< of their names; other names below the parent are somebody else's
  mode_t mode;
  const char* hint;  ///< of the Error when none can be made
};

/// A new folder below `parent` that goes away with its scope. Its maker holds a lock on it as long
/// as it lives, so that what a killed process left can be told from what is in use.
class WorkFolder {
 public:
  /// Throws Error (environment) that names the parent.
  WorkFolder(const std::filesystem::path& parent, const WorkFolderKind& kind);
  WorkFolder(const WorkFolder&) = delete;
  ~WorkFolder();

  const std::filesystem::path& path() const { return path_; }

  /// A path below `parent` that nothing of this process has.
  static std::filesystem::path unused_path(const std::filesystem::path& parent,
                                           const WorkFolderKind& kind);

  /// Removes what processes that are no longer there left below `parent`; how many.
  static int sweep(const std::filesystem::path& parent, const WorkFolderKind& kind);

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

}  // namespace baton
