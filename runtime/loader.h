// From a key to its code object: from memory, from disk, or compiled now.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/digest.h"
#include "runtime/base/error.h"
#include "runtime/cache/cache.h"
#include "runtime/cache/shared_store.h"
#include "runtime/key/build_key.h"
#include "runtime/object/code_object.h"

namespace baton {

/// A key whose kernel has been traced.
class TracedKey {
 public:
  virtual ~TracedKey() = default;
  /// Of everything that decides the code: equal contents give equal code objects.
  virtual const Digest& content() const = 0;
  /// Throws Error. At most once.
  virtual CodeObject compile() = 0;
};

/// What turns keys into code: the compiler, for those who link it. Any thread may call it.
class CodeBuilder {
 public:
  virtual ~CodeBuilder() = default;
  /// Differs whenever a kernel, the DSL, a pass, codegen or LLVM does.
  virtual const Digest& library() const = 0;
  /// Throws Error.
  virtual std::unique_ptr<TracedKey> trace(const BuildKey& key) const = 0;
};

struct LoaderOptions {
  std::vector<Cache*> shipped = {};      ///< read-only, looked into first
  Cache* cache = nullptr;                ///< null: nothing is kept on disk
  SharedStore* shared = nullptr;         ///< asked before a compile, given its result
  const CodeBuilder* builder = nullptr;  ///< null: run only; what is not on disk is an error
  /// A code object that `cache` cannot keep is an error, not a report.
  bool must_keep = false;
  /// The library build whose code is looked up; the builder's unless given.
  std::optional<Digest> library = {};
};

/// Where code objects came from so far.
struct LoaderCounts {
  uint64_t memory = 0, disk = 0, shared = 0, compiled = 0;
  uint64_t traced = 0;  ///< disk misses of the index; the content may still have been on disk
};

struct PrepareProgress {
  size_t done = 0, failed = 0, total = 0;
  const BuildKey* key = nullptr;  ///< the one that ended now
  double key_ms = 0;
};

struct PrepareFailure {
  BuildKey key;
  Error error;
};

/// Any thread may call anything at any time. Everything that is referred to must outlive it.
class Loader {
 public:
  explicit Loader(LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;

  /// The code object of `key` for its chip; it lives as long as the loader. However many threads
  /// and processes ask at once, it is compiled once. A cache that cannot keep it is reported by the
  /// cache and stops nothing, unless it must. Throws Error: the compiler's, or failed_check that
  /// names the key when nothing may be compiled (no builder, or a read-only cache); everybody who
  /// waited gets it, the next call tries again.
  const CodeObject& get(const BuildKey& key);

  /// Gets all of `keys` on `jobs` threads, those that no other process is busy with first, and
  /// returns what failed, in the keys' order. `progress` is called after each key, by one thread at
  /// a time; it must not throw.
  std::vector<PrepareFailure> prepare(
      std::span<const BuildKey> keys, int jobs,
      const std::function<void(const PrepareProgress&)>& progress = {});

  LoaderCounts counts() const;

 private:
  struct KeyHash {
    size_t operator()(const BuildKey& key) const;
  };
  struct Attempt;
  struct Slot {
    std::unique_ptr<const CodeObject> object;
    std::shared_ptr<Attempt> attempt;  ///< while a thread is at it
  };

  const CodeObject* find_in_memory(const BuildKey& key) const;
  CodeObject produce(const BuildKey& key);
  CodeObject compile(const BuildKey& key, const CodeName& name);
  CodeObject make(TracedKey& traced, const CodeName& name);
  std::optional<CodeObject> load_from(Cache& cache, const CodeName& name);
  std::optional<CodeObject> load_shipped(const CodeName& name);
  bool is_busy_elsewhere(const BuildKey& key);

  LoaderOptions options_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<BuildKey, Slot, KeyHash> slots_;
  mutable std::atomic<uint64_t> memory_ = 0;
  std::atomic<uint64_t> disk_ = 0, shared_ = 0, compiled_ = 0, traced_ = 0;
};

/// One Error (failed_check) that lists every key that failed, with its reason; nothing when none
/// did.
void throw_if_any(std::span<const PrepareFailure> failures);

}  // namespace baton
