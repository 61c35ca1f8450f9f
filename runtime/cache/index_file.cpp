#include "runtime/cache/index_file.h"

#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/sealed.h"

namespace baton {
namespace {

Digest digest_field(const nlohmann::ordered_json& json, const char* name,
                    const std::string& source) {
  if (const std::optional<Digest> digest = parse_digest(text_field(json, name, source))) {
    return *digest;
  }
  throw Error(ErrorKind::failed_check, fmt::format("{}: field {} is no SHA-256", source, name));
}

}  // namespace

void write_index_file(const std::filesystem::path& path, const IndexEntry& entry) {
  const std::string text = seal({{"format", cache_layout::kFormat},
                                 {"key", entry.name.key},
                                 {"chip", entry.name.chip},
                                 {"library", entry.name.library.hex()},
                                 {"content", entry.content.hex()}});
  write_file(path, as_bytes(text), cache_layout::kFileMode);
}

IndexEntry read_index_file(const std::filesystem::path& path) {
  const std::string source = path.string();
  const Bytes bytes = read_file(path);
  const nlohmann::ordered_json json =
      unseal({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, source);
  return {.name = {.key = text_field(json, "key", source),
                   .chip = text_field(json, "chip", source),
                   .library = digest_field(json, "library", source)},
          .content = digest_field(json, "content", source)};
}

}  // namespace baton
