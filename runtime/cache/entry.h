// One cache entry: a folder with a code object, its record, and what both must be.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/base/digest.h"
#include "runtime/object/code_object.h"

namespace baton {

/// Writes code.co, code.co.json and entry.json into `folder`, which exists; the bytes written.
/// Throws Error like write_file.
uint64_t write_entry(const std::filesystem::path& folder, const Digest& content,
                     const CodeObject& object);

/// Reads it back and checks everything: the seal of entry.json, both SHA-256s, that it is the entry
/// of `content`, and that the code is what its record says. Nothing when the folder is not there.
/// Throws Error, one line that starts with the damaged file's path.
std::optional<CodeObject> read_entry(const std::filesystem::path& folder, const Digest& content);

/// What entry.json says, without reading the code object.
struct EntrySummary {
  std::string key;
  std::string chip;
  uint64_t bytes = 0;          ///< of the code object
  uint64_t record_format = 0;  ///< another one than kRecordFormat: of another version of Baton
};

/// Throws Error like read_entry.
EntrySummary read_entry_summary(const std::filesystem::path& folder, const Digest& content);

}  // namespace baton
