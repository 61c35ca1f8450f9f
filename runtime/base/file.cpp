#include "runtime/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/error.h"
#include "runtime/base/signals.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kAnyMode = 0666;

ErrorKind kind_of(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
      return ErrorKind::user;
    default:
      return ErrorKind::environment;
  }
}

const char* hint_of(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return "check the path: every folder on it must exist";
    case EISDIR:
      return "name a file inside that folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a path that this user may use, or change its permissions";
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another disk";
    case EFBIG:
      return "raise the limit of the file size (ulimit -f) or choose another disk";
    case ENAMETOOLONG:
      return "choose a shorter name";
    default:
      return "check the path and its disk, then try again";
  }
}

[[noreturn]] void fail(const char* doing, const fs::path& path, int code) {
  throw Error(kind_of(code),
              fmt::format("cannot {} '{}': {}", doing, path.string(), std::strerror(code)),
              hint_of(code));
}

/// Writes all of `bytes`; 0 or the errno of the write that failed.
int write_all(int fd, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

/// A new file beside `path` that no other process and no earlier run shares; sets `name`.
int create_beside(const fs::path& path, fs::path& name, mode_t mode) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (int attempt = 0;; ++attempt) {
    name = folder / fmt::format(".baton-{}-{}.tmp", ::getpid(), attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

void write_through(const fs::path& path, ByteView bytes) {
  // Without O_NONBLOCK, opening a pipe that nobody reads would wait for ever.
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open() && errno == ENXIO) {
    throw Error(ErrorKind::user,
                fmt::format("cannot write '{}': nobody reads this pipe", path.string()),
                "start its reader first");
  }
  if (!file.open()) fail("write", path, errno);
  if (::fcntl(file.get(), F_SETFL, 0) != 0) fail("write", path, errno);
  if (const int code = write_all(file.get(), bytes)) fail("write", path, code);
  if (!file.close()) fail("write", path, errno);
}

/// A whole, synced temporary file beside `target`: `commit` renames it, else it goes away again.
class StagedFile {
 public:
  StagedFile(fs::path target, ByteView bytes, mode_t mode = kAnyMode) : target_(std::move(target)) {
    Descriptor file(create_beside(target_, temporary_, mode));
    if (!file.open()) fail("write", target_, errno);
    int code = write_all(file.get(), bytes);
    if (code == 0 && ::fsync(file.get()) != 0) code = errno;
    if (!file.close() && code == 0) code = errno;
    if (code == 0) return;
    ::unlink(temporary_.c_str());
    fail("write", target_, code);
  }
  StagedFile(StagedFile&& other) noexcept
      : target_(std::move(other.target_)), temporary_(std::exchange(other.temporary_, {})) {}
  ~StagedFile() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void commit() {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("write", target_, errno);
    temporary_.clear();
  }

 private:
  fs::path target_;
  fs::path temporary_;
};

/// Where a symbolic link points to in the end, whether or not anything is there.
fs::path link_target(fs::path path) {
  constexpr int kMaxLinks = 40;  // as the kernel has it
  std::error_code unreadable;
  for (int links = 0; fs::is_symlink(path, unreadable); ++links) {
    if (links == kMaxLinks) fail("write", path, ELOOP);
    // A relative target is one from the link's folder; an absolute one replaces all.
    path = path.parent_path() / fs::read_symlink(path, unreadable);
    if (unreadable) fail("write", path, unreadable.value());
  }
  return path;
}

/// What `path` stands for: the file to replace, or nothing for a device or a pipe.
std::optional<fs::path> replaceable(const fs::path& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail("write", path, errno);
    return link_target(path);
  }
  if (S_ISDIR(status.st_mode)) fail("write", path, EISDIR);
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  if (::access(path.c_str(), W_OK) != 0) fail("write", path, errno);
  return link_target(path);
}

}  // namespace

Bytes read_file(const fs::path& path, uint64_t max_bytes) {
  // Without O_NONBLOCK, opening a pipe that nobody writes would wait for ever.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) fail("read", path, errno);
  struct stat status;
  if (::fstat(file.get(), &status) != 0) fail("read", path, errno);
  if (S_ISDIR(status.st_mode)) fail("read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::user,
                fmt::format("cannot read '{}': not a regular file", path.string()));
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > max_bytes) {
    throw Error(ErrorKind::user, fmt::format("cannot read '{}': {} bytes, over the limit of {}",
                                             path.string(), size, max_bytes));
  }
  Bytes bytes(size);
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0) {
      if (errno == EINTR) continue;
      fail("read", path, errno);
    }
    if (count == 0) break;  // somebody truncated it meanwhile
    filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

void write_file(const fs::path& path, ByteView bytes, mode_t mode) {
  if (const std::optional<fs::path> target = replaceable(path)) {
    StagedFile(*target, bytes, mode).commit();
  } else {
    write_through(path, bytes);
  }
}

void write_files(std::span<const FileToWrite> files) {
  const HeldSignals until_no_temporary_is_left;
  std::vector<StagedFile> staged;
  for (const FileToWrite& file : files) {
    const std::optional<fs::path> target = replaceable(file.path);
    if (!target) fail("write", file.path, EINVAL);
    staged.emplace_back(*target, file.bytes);
  }
  for (StagedFile& file : staged) file.commit();
}

int make_folders(const fs::path& folder) {
  std::error_code unreadable;
  std::vector<fs::path> absent;  // the innermost first
  for (fs::path path = folder; !path.empty() && !fs::is_directory(path, unreadable);
       path = path.parent_path()) {
    absent.push_back(path);
  }
  for (size_t i = absent.size(); i-- > 0;) {
    constexpr mode_t kOwnerWrites = 0755;
    if (::mkdir(absent[i].c_str(), kOwnerWrites) == 0) continue;
    const int code = errno == EEXIST && i > 0 ? ENOTDIR : errno;
    if (fs::is_directory(absent[i], unreadable)) continue;  // another process, or "folder/"
    // Those that somebody uses already stay.
    for (size_t made = i + 1; made < absent.size(); ++made) ::rmdir(absent[made].c_str());
    return code;
  }
  return 0;
}

fs::path absolute_path(const fs::path& path) {
  std::error_code failure;
  fs::path absolute = fs::absolute(path, failure);
  if (!failure) return absolute;
  throw Error(ErrorKind::environment,
              fmt::format("no place for the relative path '{}': the working folder: {}",
                          path.string(), failure.message()),
              "change to a folder that exists, or name the path from /");
}

}  // namespace baton
