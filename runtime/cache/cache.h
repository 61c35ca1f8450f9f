// Code objects on disk, addressed by the content they were compiled from.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/base/digest.h"
#include "runtime/cache/file_lock.h"
#include "runtime/key/build_key.h"
#include "runtime/object/code_object.h"

namespace baton {

/// What a code object is called before anything is traced. Under one library build, which stands
/// for the kernels' sources, the passes, codegen and LLVM, a name gives one content.
struct CodeName {
  std::string key;   ///< canonical text
  std::string chip;  ///< "gfx950"
  Digest library;

  Digest digest() const;
};

inline constexpr uint64_t kDefaultCacheBytes = uint64_t{4} << 30;
/// Nothing is ever evicted, so that nobody needs to know when it was last used.
inline constexpr uint64_t kUnboundedCache = ~uint64_t{0};

struct CacheOptions {
  std::filesystem::path folder;
  /// Nothing is written, not even when an entry was last used; the folder may be another user's.
  bool read_only = false;
  /// About this much stays on disk; what has not been used for longest goes first.
  uint64_t max_bytes = kDefaultCacheBytes;
  /// How long to wait for another process that compiles the same, before doing it here as well.
  std::chrono::milliseconds patience = std::chrono::minutes(2);
  /// Told to whoever may not use the folder.
  std::string other_folder = "name a folder of your own in BATON_CACHE_DIR";
  /// Told, from any thread, of what went wrong and was got over: one line.
  std::function<void(const std::string& line)> report = {};
};

/// BATON_CACHE_DIR, else $XDG_CACHE_HOME/baton, else ~/.cache/baton. Throws Error (environment)
/// when none of the three is set, user when the path is relative.
std::filesystem::path default_cache_folder();

/// Any number of processes and threads may use one folder. Whatever a process that is killed leaves
/// behind, an entry is there whole or not at all: it is made aside and takes its place in one
/// rename. Every read is checked against SHA-256s, and against what was asked for.
///
///     FOLDER/v1/objects/CONTENT/  code.co  code.co.json (its record)  entry.json (sealed)
///     FOLDER/v1/index/NAME.json   the content of a name, sealed
///     FOLDER/v1/locks/            of names and contents that are being compiled
///     FOLDER/v1/work/             entries that are being made
class Cache {
 public:
  /// Makes the folder unless read-only. Throws Error: environment for a folder that is another
  /// user's (unless read-only), that every user may write, as a whole or in a part, or that cannot
  /// be made; user for a name that is too long.
  explicit Cache(CacheOptions options);

  /// The content that `name` gave before, or nothing.
  std::optional<Digest> find(const CodeName& name);

  /// The code object of `content`, or nothing. A damaged one is reported and counts as nothing.
  std::optional<CodeObject> load(const Digest& content, const CodeName& name);

  /// Keeps `object`, in place of what may be there. Throws Error (environment), and then the cache
  /// is as it was.
  void store(const Digest& content, const CodeObject& object);

  /// From now on find(name) is `content`. Throws like store.
  void link(const CodeName& name, const Digest& content);

  /// Held while the code of a name or a content is made. Without patience, the options' is taken;
  /// when that ends it is reported.
  FileLock lock(const Digest& what, std::optional<std::chrono::milliseconds> patience = {});

  const CacheOptions& options() const { return options_; }
  void report(const std::string& line) const;

 private:
  void make_folders();
  void check_owners() const;
  void check_owner(const std::filesystem::path& part) const;
  /// Notes that a file was used now, where that counts.
  void touch(const std::filesystem::path& file) const;
  /// Removes the least recently used when what this process stored may have filled the cache.
  void keep_bound(uint64_t stored);

  CacheOptions options_;
  std::mutex bound_mutex_;
  uint64_t unaccounted_ = 0;  ///< bytes stored since the folder was last measured
  bool measured_ = false;
};

}  // namespace baton
