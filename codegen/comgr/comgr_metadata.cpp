#include "codegen/comgr/comgr_metadata.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/object/elf_parts.h"

namespace baton::comgr {
namespace {

using nlohmann::json;

// comgr gives every value as text, and any text may look like a number: what a field holds is known
// by its name, from "Code Object Metadata" in the AMDGPU back end's documentation. What a field of
// another name holds stays text.
constexpr std::string_view kFlags[] = {".is_const", ".is_pipe", ".is_restrict", ".is_volatile",
                                       ".uses_dynamic_stack"};
constexpr std::string_view kNumbers[] = {".agpr_count",
                                         ".group_segment_fixed_size",
                                         ".kernarg_segment_align",
                                         ".kernarg_segment_size",
                                         ".language_version",
                                         ".max_flat_workgroup_size",
                                         ".offset",
                                         ".pointee_align",
                                         ".private_segment_fixed_size",
                                         ".reqd_workgroup_size",
                                         ".sgpr_count",
                                         ".sgpr_spill_count",
                                         ".size",
                                         ".uniform_work_group_size",
                                         ".vgpr_count",
                                         ".vgpr_spill_count",
                                         ".wavefront_size",
                                         ".workgroup_processor_mode",
                                         ".workgroup_size_hint",
                                         "amdhsa.version"};

bool holds(std::span<const std::string_view> fields, std::string_view field) {
  return std::ranges::find(fields, field) != fields.end();
}

/// Whether comgr's text may stand for a value that is none: a digit or a word for a flag, some
/// digits of a fraction, nothing for nothing.
bool is_text_of(const json& value, const std::string& text) {
  if (value.is_boolean())
    return value.get<bool>() ? text == "1" || text == "true" : text == "0" || text == "false";
  if (value.is_null()) return text.empty();
  if (!value.is_number_float()) return value.dump() == text;
  constexpr double kDigits = 1e-5;
  char* end = nullptr;
  const double read = std::strtod(text.c_str(), &end), own = value.get<double>();
  return end != text.c_str() && *end == '\0' &&
         (std::abs(read - own) <= kDigits * std::abs(own) || (std::isnan(read) && std::isnan(own)));
}

/// A value of the field as the note has it.
json typed(const std::string& text, std::string_view field) {
  for (const bool flag : {false, true}) {
    if (holds(kFlags, field) && is_text_of(flag, text)) return flag;
  }
  if (!holds(kNumbers, field)) return text;
  const auto number = parse_number<uint64_t>(text);
  return number ? json(*number) : json(text);
}

/// The path of the first field that differs, or nothing.
std::optional<std::string> first_difference(const json& ours, const json& theirs,
                                            const std::string& path) {
  if (ours == theirs) return std::nullopt;
  if (ours.type() != theirs.type() || ours.size() != theirs.size() || !ours.is_structured()) {
    const bool same = theirs.is_string() && is_text_of(ours, theirs.get<std::string>());
    return same ? std::nullopt : std::optional(path);
  }
  for (const auto& [key, value] : ours.items()) {
    const std::string place = path.empty() ? key : path + "/" + key;
    if (ours.is_object() && !theirs.contains(key)) return place;
    const json& other = ours.is_object() ? theirs.at(key) : theirs.at(std::stoul(key));
    if (auto found = first_difference(value, other, place)) return found;
  }
  return std::nullopt;
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
  const std::optional<std::string> difference = first_difference(ours, theirs, "");
  if (!difference) return;
  throw Error(
      ErrorKind::failed_check,
      fmt::format("{} reads the metadata otherwise than Baton: {}", title, printable(*difference)),
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
