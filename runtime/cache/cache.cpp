#include "runtime/cache/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "runtime/base/environment.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "runtime/cache/entry.h"
#include "runtime/cache/index_file.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/prune.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using namespace cache_layout;

/// Moves `made` to `place`. What already stands there is moved into `aside` first.
void replace(const fs::path& made, const fs::path& place, const fs::path& aside) {
  for (int attempt = 0;; ++attempt) {
    if (::rename(made.c_str(), place.c_str()) == 0) return;
    const int code = errno;
    const bool taken = code == ENOTEMPTY || code == EEXIST || code == EISDIR || code == ENOTDIR;
    constexpr int kAttempts = 8;  // another process may put one there each time
    if (!taken || attempt == kAttempts) {
      throw Error(
          ErrorKind::environment,
          fmt::format("cannot put '{}' in its place: {}", place.string(), std::strerror(code)),
          "check the cache folder and its disk, then try again");
    }
    ::rename(place.c_str(), (aside / fmt::format("old-{}", attempt)).c_str());
  }
}

/// A full disk or a folder without permission is the machine's fault, whatever file it was.
template <typename Write>
auto as_environment(Write write) {
  try {
    return write();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::user) throw;
    throw Error(ErrorKind::environment, error.what(), error.hint());
  }
}

}  // namespace

Digest CodeName::digest() const {
  const std::string library_hex = library.hex();
  return sha256_of(std::array<std::string_view, 4>{"baton code name", key, chip, library_hex});
}

fs::path default_cache_folder() {
  const std::optional<std::string> own = environment_variable("BATON_CACHE_DIR");
  const std::optional<std::string> xdg = environment_variable("XDG_CACHE_HOME");
  const std::optional<std::string> home = environment_variable("HOME");
  if (!own && !xdg && !home) {
    throw Error(ErrorKind::environment,
                "no place for the cache: BATON_CACHE_DIR, XDG_CACHE_HOME and HOME are not set",
                "set BATON_CACHE_DIR to a folder");
  }
  fs::path folder = own   ? fs::path(*own)
                    : xdg ? fs::path(*xdg) / "baton"
                          : fs::path(*home) / ".cache" / "baton";
  if (!folder.is_absolute()) {
    throw Error(ErrorKind::user,
                fmt::format("the cache folder {} is a relative path", quote(folder.string())),
                "set BATON_CACHE_DIR to a path that begins with /");
  }
  return folder;
}

Cache::Cache(CacheOptions options) : options_(std::move(options)) {
  // An existing folder of another user is refused before anything is put into it.
  check_owners();
  if (options_.read_only) return;
  make_folders();
  check_owners();
  WorkFolder::sweep(work(options_.folder), kWork);
}

void Cache::make_folders() {
  for (const fs::path& folder : {objects(options_.folder), index(options_.folder),
                                 locks(options_.folder), work(options_.folder)}) {
    const int code = baton::make_folders(folder);
    if (code == 0) continue;
    const bool full = code == ENOSPC || code == EDQUOT;
    throw Error(
        code == ENAMETOOLONG ? ErrorKind::user : ErrorKind::environment,
        fmt::format("cannot make the cache folder '{}': {}", folder.string(), std::strerror(code)),
        full ? "free some space or choose another disk" : options_.other_folder);
  }
}

void Cache::check_owners() const {
  const fs::path& folder = options_.folder;
  for (const fs::path& part :
       {folder, root(folder), objects(folder), index(folder), locks(folder), work(folder)}) {
    check_owner(part);
  }
}

void Cache::check_owner(const fs::path& part) const {
  const std::string folder = part.string();
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw Error(errno == ENAMETOOLONG ? ErrorKind::user : ErrorKind::environment,
                fmt::format("cannot open the cache folder '{}': {}", folder, std::strerror(errno)),
                options_.other_folder);
  }
  if (!S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::environment, fmt::format("the cache '{}' is no folder", folder),
                options_.other_folder);
  }
  if (!options_.read_only && status.st_uid != ::geteuid()) {
    throw Error(ErrorKind::environment,
                fmt::format("the cache folder '{}' belongs to user {}, and this is user {}", folder,
                            status.st_uid, ::geteuid()),
                fmt::format("{}, or use this one read-only", options_.other_folder));
  }
  if ((status.st_mode & S_IWOTH) != 0) {
    throw Error(ErrorKind::environment,
                fmt::format("every user may write the cache folder '{}': any of them could put a "
                            "kernel there",
                            folder),
                fmt::format("take that away: chmod o-w '{}'", folder));
  }
}

void Cache::touch(const fs::path& file) const {
  if (options_.read_only || options_.max_bytes == kUnboundedCache) return;
  // One that fails costs the entry its place in the order of use and nothing else.
  ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
}

void Cache::report(const std::string& line) const {
  if (options_.report) options_.report(line);
}

std::optional<Digest> Cache::find(const CodeName& name) {
  const fs::path path = index_file(options_.folder, name.digest());
  std::error_code unreadable;
  if (!fs::exists(path, unreadable) && !unreadable) return std::nullopt;
  try {
    const IndexEntry entry = read_index_file(path);
    if (entry.name.key != name.key || entry.name.chip != name.chip ||
        entry.name.library != name.library) {
      throw Error(ErrorKind::failed_check,
                  fmt::format("{}: it is of {} for {}: moved from there", path.string(),
                              quote(entry.name.key), entry.name.chip));
    }
    touch(path);
    return entry.content;
  } catch (const Error& error) {
    if (fs::exists(path, unreadable)) report(fmt::format("damaged: {}", error.what()));
    return std::nullopt;
  }
}

std::optional<CodeObject> Cache::load(const Digest& content, const CodeName& name) {
  const fs::path folder = entry(options_.folder, content);
  // Whoever replaces or removes the entry while it is read makes the first attempt fail.
  for (int attempt = 0;; ++attempt) {
    try {
      std::optional<CodeObject> object = read_entry(folder, content);
      if (!object) return std::nullopt;
      if (object->record.key != name.key || object->record.chip != name.chip) {
        throw Error(ErrorKind::failed_check,
                    fmt::format("{}: it holds {} for {}, not what was asked for", folder.string(),
                                quote(object->record.key), object->record.chip));
      }
      touch(folder / kEntryFile);
      return object;
    } catch (const Error& error) {
      std::error_code ignored;
      if (attempt == 0) continue;
      if (fs::exists(folder, ignored)) report(fmt::format("damaged: {}", error.what()));
      return std::nullopt;
    }
  }
}

void Cache::store(const Digest& content, const CodeObject& object) {
  BATON_CHECK(!options_.read_only, content.hex());
  const uint64_t stored = as_environment([&] {
    const WorkFolder folder(work(options_.folder), kWork);
    const fs::path made = folder.path() / "entry";
    if (const int code = baton::make_folders(made)) {
      throw Error(ErrorKind::environment,
                  fmt::format("cannot make '{}': {}", made.string(), std::strerror(code)),
                  kWork.hint);
    }
    const uint64_t bytes = write_entry(made, content, object);
    read_entry(made, content);  // what could never be loaded is refused here, by name
    replace(made, entry(options_.folder, content), folder.path());
    return bytes;
  });
  keep_bound(stored);
}

void Cache::link(const CodeName& name, const Digest& content) {
  BATON_CHECK(!options_.read_only, name.key);
  as_environment([&] {
    const WorkFolder folder(work(options_.folder), kWork);
    const fs::path made = folder.path() / "index.json";
    write_index_file(made, {.name = name, .content = content});
    replace(made, index_file(options_.folder, name.digest()), folder.path());
  });
}

FileLock Cache::lock(const Digest& what, std::optional<std::chrono::milliseconds> patience) {
  FileLock lock(locks(options_.folder) / (what.hex() + ".lock"),
                patience.value_or(options_.patience));
  if (!patience && lock.state() == FileLock::State::busy) {
    report(
        fmt::format("another process has held {}.lock in '{}' for {} s: not waiting any longer",
                    what.hex(), locks(options_.folder).string(),
                    std::chrono::duration_cast<std::chrono::seconds>(options_.patience).count()));
  }
  return lock;
}

void Cache::keep_bound(uint64_t stored) {
  if (options_.max_bytes == kUnboundedCache) return;
  const std::lock_guard lock(bound_mutex_);
  unaccounted_ += stored;
  // Measuring reads every folder: once at first, then whenever a good part of the bound was stored.
  constexpr uint64_t kPart = 16;
  if (measured_ && unaccounted_ < options_.max_bytes / kPart) return;
  measured_ = true;
  unaccounted_ = 0;
  evict(options_.folder, options_.max_bytes);
}

}  // namespace baton
