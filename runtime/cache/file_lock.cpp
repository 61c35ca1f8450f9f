#include "runtime/cache/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "runtime/cache/layout.h"

namespace baton {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// Whether `path` still names the open file: its last holder took it away when he let go.
bool is_current(int fd, const std::filesystem::path& path) {
  struct stat opened, named;
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(std::filesystem::path path, milliseconds patience) : path_(std::move(path)) {
  constexpr milliseconds kFirstPause{1}, kLongestPause{20};
  const Clock::time_point end = Clock::now() + patience;
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    state_ = attempt();
    if (state_ != State::busy || Clock::now() >= end) return;
    std::this_thread::sleep_for(pause);
  }
}

FileLock::State FileLock::attempt() {
  file_ = Descriptor(
      ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, cache_layout::kFileMode));
  if (!file_.open()) return State::unsupported;
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    const State state = errno == EWOULDBLOCK ? State::busy : State::unsupported;
    file_ = Descriptor();
    return state;
  }
  if (is_current(file_.get(), path_)) return State::held;
  file_ = Descriptor();
  return State::busy;
}

FileLock::~FileLock() {
  // Before the descriptor closes: whoever comes then makes a new file, whoever waits on this one
  // finds that it is no longer the current one.
  if (file_.open()) ::unlink(path_.c_str());
}

}  // namespace baton
