#include "runtime/base/work_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "runtime/base/error.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

/// Locks the folder at `path`; nothing when a sweep took it for one that was left.
Descriptor hold(const fs::path& path) {
  Descriptor folder(::open(path.c_str(), kFolder));
  if (!folder.open()) return {};
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return {};
  struct stat held = {}, named = {};
  const bool is_there = ::fstat(folder.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
                        held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  return is_there ? std::move(folder) : Descriptor();
}

}  // namespace

WorkFolder::WorkFolder(const fs::path& parent, const WorkFolderKind& kind) {
  while (!lock_.open()) {
    path_ = unused_path(parent, kind);
    if (::mkdir(path_.c_str(), kind.mode) == 0) {
      lock_ = hold(path_);
    } else if (errno != EEXIST) {
      throw Error(
          ErrorKind::environment,
          fmt::format("cannot make a folder in '{}': {}", parent.string(), std::strerror(errno)),
          kind.hint);
    }
  }
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path WorkFolder::unused_path(const fs::path& parent, const WorkFolderKind& kind) {
  static std::atomic<uint64_t> count = 0;
  return parent / fmt::format("{}{}-{}", kind.prefix, ::getpid(), count++);
}

int WorkFolder::sweep(const fs::path& parent, const WorkFolderKind& kind) {
  int swept = 0;
  std::error_code ended;
  for (fs::directory_iterator it(parent, ended), end; !ended && it != end; it.increment(ended)) {
    if (!it->path().filename().string().starts_with(kind.prefix)) continue;
    const Descriptor folder(::open(it->path().c_str(), kFolder));
    // Without locks on this file system nothing tells what is in use: it stays.
    if (folder.open() && ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
    std::error_code ignored;
    swept += fs::remove_all(it->path(), ignored) != static_cast<std::uintmax_t>(-1);
  }
  return swept;
}

}  // namespace baton
