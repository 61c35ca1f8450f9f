// A matrix on disk: compiled into a folder that is shipped, spread over machines.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "builds/matrix.h"
#include "runtime/cache/manifest.h"
#include "runtime/loader.h"

namespace baton::builds {

/// The folder is a cache (runtime/cache/cache.h) that nothing is evicted from, with a manifest and
/// a summary beside it. Several processes may compile into it at once.
class MatrixFolder {
 public:
  /// `shared` may be null. Throws Error like Cache.
  MatrixFolder(std::filesystem::path folder, const CodeBuilder& builder,
               std::function<void(const std::string&)> report, SharedStore* shared = nullptr);

  /// The keys without a sound code object of this library build, in their order. Reads on `jobs`
  /// threads.
  std::vector<BuildKey> missing(std::span<const BuildKey> keys, int jobs);

  struct Compiled {
    std::vector<PrepareFailure> failures;
    LoaderCounts counts;
  };
  /// Compiles on `jobs` threads, and keeps how long each took for the summary. Like
  /// Loader::prepare.
  Compiled compile(std::span<const BuildKey> keys, int jobs,
                   const std::function<void(const PrepareProgress&)>& progress = {});

  /// Writes manifest.json and summary.txt, unless they are there and right; returns what the
  /// manifest says. What the last missing() found sound is not read again, the rest on `jobs`
  /// threads. Throws Error (failed_check) that lists every missing key.
  Manifest collect(const Matrix& matrix, int jobs);

  /// Refuses a folder that no matrix may have made, before a run that shall prune it: one without
  /// a manifest and with code objects of other keys. Throws Error (user).
  void require_prunable(const Matrix& matrix) const;
  /// Removes what is unlisted(); how many paths. Only while nobody else uses the folder. Throws
  /// Error (environment).
  size_t prune(const Manifest& manifest) const;

  /// The content that each key has or will have; traced on `jobs` threads where that is not known.
  /// Throws the first key's Error.
  std::vector<Digest> contents(std::span<const BuildKey> keys, int jobs);

 private:
  /// What a manifest says of a sound code object.
  struct Listed {
    ManifestEntry entry;
    std::string baton_version, llvm_version;
  };

  CodeName name_of(const BuildKey& key) const;
  std::optional<Listed> read_listed(const BuildKey& key);
  /// Of each key what listed_ knows or the folder holds, null where that is nothing.
  std::vector<const Listed*> list(std::span<const BuildKey> keys, int jobs);
  std::string time_text(const Digest& content) const;

  std::filesystem::path folder_;
  const CodeBuilder& builder_;
  SharedStore* shared_;
  Cache cache_;
  std::map<Digest, Listed> listed_;  ///< by the name's digest
};

/// What a plan says besides the keys.
struct PlanCommands {
  std::string baton;   ///< the program
  std::string matrix;  ///< the TOML file
  std::string out;     ///< the folder
  std::string arch;    ///< the chips' flags of the last step; may be empty
  std::string shared;  ///< the URL that each step shares results at; may be empty
};

/// Throws Error (user) for a path that no escape brings into a Ninja file.
void require_plannable(const PlanCommands& commands);

/// The matrix as a Ninja file: an edge a key, whose output is named by its content, and one that
/// collects. Throws like require_plannable.
std::string ninja_plan(std::span<const BuildKey> keys, std::span<const Digest> contents,
                       const PlanCommands& commands);

}  // namespace baton::builds
