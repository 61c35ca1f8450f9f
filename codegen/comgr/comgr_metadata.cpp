#include "codegen/comgr/comgr_metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/object/elf_parts.h"

namespace baton::comgr {
namespace {

using nlohmann::json;

// comgr gives every value as text, and any text may look like a number: what a field holds is known
// by its name, from "Code Object Metadata" in the AMDGPU back end's documentation.
constexpr std::string_view kTexts[] = {
    ".access",       ".actual_access", ".address_space", ".device_enqueue_symbol",
    ".kind",         ".language",      ".name",          ".symbol",
    ".type_name",    ".value_kind",    ".value_type",    ".vec_type_hint",
    "amdhsa.printf", "amdhsa.target"};
constexpr std::string_view kFlags[] = {".is_const", ".is_pipe", ".is_restrict", ".is_volatile",
                                       ".uses_dynamic_stack"};

bool holds(std::span<const std::string_view> fields, std::string_view field) {
  return std::ranges::find(fields, field) != fields.end();
}

/// A value of the field as the note has it.
json typed(const std::string& text, std::string_view field) {
  if (holds(kTexts, field)) return text;
  if (holds(kFlags, field) && (text == "0" || text == "1")) return text == "1";
  if (holds(kFlags, field) && (text == "false" || text == "true")) return text == "true";
  if (const auto number = parse_number<uint64_t>(text)) return *number;
  return text;
}

class Reader {
 public:
  explicit Reader(const Library& library) : library_(library), call_(library.call()) {}

  json value(MetadataNode node, std::string_view field) const {
    MetadataKind kind{};
    check(call_.amd_comgr_get_metadata_kind(node, &kind));
    switch (kind) {
      case MetadataKind::map:
        return map(node);
      case MetadataKind::list:
        return list(node, field);
      case MetadataKind::string:
        return typed(text(node), field);
      default:
        return nullptr;
    }
  }

 private:
  void check(Status status) const { library_.check(status, "read the metadata"); }

  std::string text(MetadataNode node) const {
    size_t size = 0;  // with the terminator
    check(call_.amd_comgr_get_metadata_string(node, &size, nullptr));
    std::string text(size, '\0');
    check(call_.amd_comgr_get_metadata_string(node, &size, text.data()));
    text.resize(size - 1);
    return text;
  }

  struct Keys {
    const Reader* reader;
    std::vector<std::string> names;
  };

  /// comgr calls it for each entry, and no exception may pass through comgr.
  static Status collect(MetadataNode key, MetadataNode, void* user) {
    try {
      Keys& keys = *static_cast<Keys*>(user);
      keys.names.push_back(keys.reader->text(key));
      return kSuccess;
    } catch (...) {
      return kError;
    }
  }

  json map(MetadataNode node) const {
    Keys keys{.reader = this, .names = {}};
    check(call_.amd_comgr_iterate_map_metadata(node, &collect, &keys));
    json object = json::object();
    for (const std::string& name : keys.names) {
      OwnedMetadata entry(library_);
      check(call_.amd_comgr_metadata_lookup(node, name.c_str(), entry.out()));
      object[name] = value(entry.get(), name);
    }
    return object;
  }

  json list(MetadataNode node, std::string_view field) const {
    size_t size = 0;
    check(call_.amd_comgr_get_metadata_list_size(node, &size));
    json array = json::array();
    for (size_t i = 0; i < size; ++i) {
      OwnedMetadata entry(library_);
      check(call_.amd_comgr_index_list_metadata(node, i, entry.out()));
      array.push_back(value(entry.get(), field));
    }
    return array;
  }

  const Library& library_;
  const Functions& call_;
};

}  // namespace

Bytes metadata_note(const Library& library, ByteView code_object) {
  const auto lock = alone_in_comgr();
  const Functions& call = library.call();
  OwnedData data(library);
  library.check(call.amd_comgr_create_data(DataKind::executable, data.out()), "take a code object");
  library.check(call.amd_comgr_set_data(data.get(), code_object.size(),
                                        reinterpret_cast<const char*>(code_object.data())),
                "take a code object");
  OwnedMetadata root(library);
  library.check(call.amd_comgr_get_data_metadata(data.get(), root.out()), "read the metadata");
  return json::to_msgpack(Reader(library).value(root.get(), ""));
}

void require_same_metadata(ByteView note, ByteView comgr_note, std::string_view title) {
  const json ours = json::from_msgpack(note.begin(), note.end());
  const json theirs = json::from_msgpack(comgr_note.begin(), comgr_note.end());
  if (ours == theirs) return;
  const json difference = json::diff(ours, theirs).front();
  throw Error(ErrorKind::failed_check,
              fmt::format("{} reads the metadata otherwise than Baton: {}", title,
                          printable(difference.at("path").get<std::string>().substr(1))),
              kOtherBackend);
}

CodeObjectMetadata read_metadata(const Library& library, ByteView code_object) {
  const elf::Header header = elf::read_header(code_object);
  const ByteView note =
      elf::find_metadata_note(code_object, elf::read_program_headers(code_object, header.raw));
  const Bytes comgr_note = metadata_note(library, code_object);
  require_same_metadata(note, comgr_note, library.title());
  return parse_metadata(comgr_note);
}

}  // namespace baton::comgr
