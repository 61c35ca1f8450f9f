#include "runtime/cache/manifest.h"

#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/sealed.h"

namespace baton {
namespace {

using nlohmann::ordered_json;

ordered_json entry_json(const ManifestEntry& entry) {
  return {{"key", entry.key},
          {"chip", entry.chip},
          {"kernel", entry.kernel},
          {"content", entry.content.hex()},
          {"path", entry.path},
          {"bytes", entry.bytes},
          {"sha256", entry.sha256},
          {"vgprs", entry.vgprs},
          {"sgprs", entry.sgprs},
          {"lds_bytes", entry.lds_bytes},
          {"waves_per_simd", entry.waves_per_simd},
          {"workgroups_per_cu", entry.workgroups_per_cu}};
}

Digest digest_of(const ordered_json& object, const char* name, std::string_view source) {
  if (const std::optional<Digest> digest = parse_digest(text_field(object, name, source))) {
    return *digest;
  }
  throw Error(ErrorKind::failed_check, fmt::format("{}: {} is no SHA-256", source, name));
}

ManifestEntry entry_from(const ordered_json& json, std::string_view source) {
  return {.key = text_field(json, "key", source),
          .chip = text_field(json, "chip", source),
          .kernel = text_field(json, "kernel", source),
          .content = digest_of(json, "content", source),
          .path = text_field(json, "path", source),
          .bytes = number_field(json, "bytes", source),
          .sha256 = text_field(json, "sha256", source),
          .vgprs = number_field(json, "vgprs", source),
          .sgprs = number_field(json, "sgprs", source),
          .lds_bytes = number_field(json, "lds_bytes", source),
          .waves_per_simd = number_field(json, "waves_per_simd", source),
          .workgroups_per_cu = number_field(json, "workgroups_per_cu", source)};
}

}  // namespace

ManifestEntry manifest_entry(const Record& record, const Digest& content, uint64_t bytes) {
  return {.key = record.key,
          .chip = record.chip,
          .kernel = record.kernel,
          .content = content,
          .path = (cache_layout::entry("", content) / cache_layout::kCodeFile).string(),
          .bytes = bytes,
          .sha256 = record.sha256,
          .vgprs = record.resources.vgprs,
          .sgprs = record.resources.sgprs,
          .lds_bytes = record.resources.lds_bytes,
          .waves_per_simd = static_cast<uint64_t>(record.occupancy.waves_per_simd),
          .workgroups_per_cu = static_cast<uint64_t>(record.occupancy.workgroups_per_cu)};
}

std::string Manifest::to_json() const {
  ordered_json list = ordered_json::array();
  for (const ManifestEntry& entry : entries) list.push_back(entry_json(entry));
  return seal({{"format", kManifestFormat},
               {"name", name},
               {"baton_version", baton_version},
               {"llvm_version", llvm_version},
               {"library", library.hex()},
               {"entries", std::move(list)}});
}

Manifest Manifest::from_json(std::string_view text, std::string_view source) {
  const ordered_json json = unseal(text, source);
  if (const uint64_t format = number_field(json, "format", source); format != kManifestFormat) {
    throw Error(
        ErrorKind::failed_check,
        fmt::format("{}: format {}, this version reads format {}", source, format, kManifestFormat),
        "use the version of Baton that wrote it");
  }
  Manifest manifest{.name = text_field(json, "name", source),
                    .baton_version = text_field(json, "baton_version", source),
                    .llvm_version = text_field(json, "llvm_version", source),
                    .library = digest_of(json, "library", source),
                    .entries = {}};
  const auto entries = json.find("entries");
  if (entries == json.end() || !entries->is_array()) {
    throw Error(ErrorKind::failed_check, fmt::format("{}: field entries is no array", source));
  }
  for (const ordered_json& entry : *entries) {
    manifest.entries.push_back(entry_from(entry, source));
  }
  return manifest;
}

Manifest Manifest::read(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kManifestFile;
  const Bytes text = read_file(path);
  return from_json({reinterpret_cast<const char*>(text.data()), text.size()}, path.string());
}

}  // namespace baton
