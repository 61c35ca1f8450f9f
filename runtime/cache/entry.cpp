#include "runtime/cache/entry.h"

#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/sealed.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using namespace cache_layout;
using nlohmann::ordered_json;

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// entry.json, opened.
struct Seal {
  EntrySummary summary;
  std::string code_sha256, record_sha256;
};

Seal read_seal(const fs::path& folder, const Digest& content) {
  const std::string path = (folder / kEntryFile).string();
  const Bytes text = read_file(path);
  const ordered_json json = unseal(text_of(text), path);
  const std::string held = text_field(json, "content", path);
  if (held != content.hex()) {
    throw Error(ErrorKind::failed_check,
                fmt::format("{}: it is the entry of {}: moved from there", path, quote(held)));
  }
  return {.summary = {.key = text_field(json, "key", path),
                      .chip = text_field(json, "chip", path),
                      .bytes = number_field(json, "bytes", path),
                      .record_format = number_field(json, "record_format", path)},
          .code_sha256 = text_field(json, "code_sha256", path),
          .record_sha256 = text_field(json, "record_sha256", path)};
}

Bytes read_checked(const fs::path& path, const std::string& expected) {
  Bytes bytes = read_file(path);
  const std::string found = sha256(bytes).hex();
  if (found == expected) return bytes;
  throw Error(ErrorKind::failed_check,
              fmt::format("{}: its SHA-256 is {}, expected {}: cut short or changed", path.string(),
                          found, expected));
}

}  // namespace

uint64_t write_entry(const fs::path& folder, const Digest& content, const CodeObject& object) {
  const std::string record = object.record.to_json();
  const std::string entry = seal({{"format", kFormat},
                                  {"content", content.hex()},
                                  {"key", object.record.key},
                                  {"chip", object.record.chip},
                                  {"bytes", object.bytes.size()},
                                  {"record_format", kRecordFormat},
                                  {"code_sha256", sha256(object.bytes).hex()},
                                  {"record_sha256", sha256(as_bytes(record)).hex()}});
  write_file(folder / kCodeFile, object.bytes, kFileMode);
  write_file(folder / kRecordFile, as_bytes(record), kFileMode);
  write_file(folder / kEntryFile, as_bytes(entry), kFileMode);
  return object.bytes.size() + record.size() + entry.size();
}

std::optional<CodeObject> read_entry(const fs::path& folder, const Digest& content) {
  std::error_code unreadable;
  if (!fs::exists(folder, unreadable) && !unreadable) return std::nullopt;
  const Seal entry = read_seal(folder, content);
  CodeObject object{.bytes = read_checked(folder / kCodeFile, entry.code_sha256), .record = {}};
  const std::string record_path = (folder / kRecordFile).string();
  const Bytes record = read_checked(record_path, entry.record_sha256);
  object.record = Record::from_json(text_of(record), record_path);
  verify(object, (folder / kCodeFile).string());
  return object;
}

EntrySummary read_entry_summary(const fs::path& folder, const Digest& content) {
  return read_seal(folder, content).summary;
}

}  // namespace baton
