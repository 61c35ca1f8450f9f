#include "runtime/cache/work_folder.h"

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

}  // namespace

WorkFolder::WorkFolder(const fs::path& parent) {
  for (;;) {
    path_ = unused_name(parent);
    if (::mkdir(path_.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      throw Error(ErrorKind::environment,
                  fmt::format("cannot make '{}': {}", path_.string(), std::strerror(errno)),
                  "the cache needs a folder that this user may write, on a disk with space");
    }
    lock_ = Descriptor(::open(path_.c_str(), kFolder));
    if (!lock_.open()) continue;  // a sweep took it for one that was left
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  }
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path WorkFolder::unused_name(const fs::path& parent) {
  static std::atomic<uint64_t> count = 0;
  return parent / fmt::format("{}-{}", ::getpid(), count++);
}

int WorkFolder::sweep(const fs::path& parent) {
  int swept = 0;
  std::error_code ended;
  for (fs::directory_iterator it(parent, ended), end; !ended && it != end; it.increment(ended)) {
    const Descriptor folder(::open(it->path().c_str(), kFolder));
    // Without locks on this file system nothing tells what is in use: it stays.
    if (folder.open() && ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
    std::error_code ignored;
    swept += fs::remove_all(it->path(), ignored) != static_cast<std::uintmax_t>(-1);
  }
  return swept;
}

}  // namespace baton
