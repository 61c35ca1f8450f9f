// What a shipped folder holds: written beside the code objects, read by who runs them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/digest.h"
#include "runtime/object/record.h"

namespace baton {

/// The layout of manifest.json; docs/matrix.md describes it. Rises when a field changes its
/// meaning, appears or goes.
inline constexpr uint64_t kManifestFormat = 1;
inline constexpr const char* kManifestFile = "manifest.json";

struct ManifestEntry {
  std::string key;   ///< canonical text
  std::string chip;  ///< "gfx950"
  std::string kernel;
  Digest content;
  std::string path;    ///< of the code object, from the folder; its record is PATH.json
  uint64_t bytes = 0;  ///< of the code object
  std::string sha256;  ///< of the code object, in hex
  uint64_t vgprs = 0, sgprs = 0, lds_bytes = 0, waves_per_simd = 0, workgroups_per_cu = 0;

  bool operator==(const ManifestEntry&) const = default;
};

/// What the manifest says of a code object with this record.
ManifestEntry manifest_entry(const Record& record, const Digest& content, uint64_t bytes);

struct Manifest {
  std::string name;  ///< the matrix's
  std::string baton_version, llvm_version;
  Digest library;  ///< for LoaderOptions, where no builder gives it
  std::vector<ManifestEntry> entries;

  /// Sealed JSON: equal manifests are equal text.
  std::string to_json() const;
  /// Parses untrusted text. Throws Error (failed_check), one line that starts with `source`.
  static Manifest from_json(std::string_view text, std::string_view source);
  /// The manifest of a shipped folder. Throws Error like from_json and read_file.
  static Manifest read(const std::filesystem::path& folder);

  bool operator==(const Manifest&) const = default;
};

}  // namespace baton
