#include "runtime/object/kernel_metadata.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::user, "AMDGPU metadata: " + message);
}

/// Counts nesting and keeps nothing: the parser recurses, and a hostile note of nested arrays would
/// otherwise exhaust the stack.
class DepthLimit : public nlohmann::json_sax<json> {
 public:
  static constexpr int kMaxDepth = 32;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return enter(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(size_t byte, const std::string&, const json::exception&) override {
    fail(fmt::format("not valid MessagePack at byte {} of the note", byte));
  }

 private:
  bool enter() {
    if (++depth_ > kMaxDepth) fail(fmt::format("nested deeper than {} levels", kMaxDepth));
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
};

/// One map of the metadata, and how errors call it.
class Map {
 public:
  Map(const json& value, std::string what) : value_(value), what_(std::move(what)) {
    if (!value.is_object()) fail(fmt::format("{} is not a map", what_));
  }

  const json* find(const char* key) const {
    const auto found = value_.find(key);
    return found == value_.end() ? nullptr : &*found;
  }

  const json& get(const char* key) const {
    const json* found = find(key);
    if (found == nullptr) fail(fmt::format("{} has no {}", what_, key));
    return *found;
  }

  std::string text(const char* key) const {
    const json& value = get(key);
    if (!value.is_string()) fail(fmt::format("{} of {} is not a string", key, what_));
    return value.get<std::string>();
  }

  std::string text_or_empty(const char* key) const {
    return find(key) == nullptr ? std::string() : text(key);
  }

  uint32_t number(const char* key, std::optional<uint32_t> fallback = std::nullopt) const {
    if (fallback && find(key) == nullptr) return *fallback;
    const json& value = get(key);
    if (!value.is_number_unsigned()) {
      fail(fmt::format("{} of {} is not an unsigned integer", key, what_));
    }
    constexpr uint64_t kLimit = std::numeric_limits<uint32_t>::max();
    const auto wide = value.get<uint64_t>();
    if (wide > kLimit) fail(fmt::format("{} of {} is {}, over {}", key, what_, wide, kLimit));
    return static_cast<uint32_t>(wide);
  }

  bool flag_or_false(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fail(fmt::format("{} of {} is not a boolean", key, what_));
    return value->get<bool>();
  }

  /// The elements of an array; none when it is absent.
  json::array_t list(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_array()) fail(fmt::format("{} of {} is not an array", key, what_));
    return value->get<json::array_t>();
  }

 private:
  const json& value_;
  std::string what_;
};

KernelMetadata read_kernel(const json& value, size_t index) {
  const std::string name = Map(value, fmt::format("kernel {}", index)).text(".name");
  const std::string what = "kernel " + quote(name);
  const Map map(value, what);
  KernelMetadata kernel = {
      .name = name,
      .symbol = map.text(".symbol"),
      .arguments = {},
      .kernarg_bytes = map.number(".kernarg_segment_size"),
      .kernarg_align = map.number(".kernarg_segment_align"),
      .lds_bytes = map.number(".group_segment_fixed_size"),
      .scratch_bytes = map.number(".private_segment_fixed_size"),
      .vgprs = map.number(".vgpr_count"),
      .agprs = map.number(".agpr_count", 0),
      .sgprs = map.number(".sgpr_count"),
      .vgpr_spills = map.number(".vgpr_spill_count", 0),
      .sgpr_spills = map.number(".sgpr_spill_count", 0),
      .wave_lanes = map.number(".wavefront_size"),
      .max_workgroup_lanes = map.number(".max_flat_workgroup_size"),
      .uses_dynamic_stack = map.flag_or_false(".uses_dynamic_stack"),
  };
  const json::array_t arguments = map.list(".args");
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string which = fmt::format("argument {} of {}", i, what);
    const Map argument(arguments[i], which);
    kernel.arguments.push_back({.name = argument.text_or_empty(".name"),
                                .offset = argument.number(".offset"),
                                .size = argument.number(".size"),
                                .value_kind = argument.text(".value_kind")});
    const uint64_t end = uint64_t{kernel.arguments[i].offset} + kernel.arguments[i].size;
    if (end > kernel.kernarg_bytes) {
      fail(fmt::format("{} ends at byte {}, past the kernarg segment's {}", which, end,
                       kernel.kernarg_bytes));
    }
  }
  return kernel;
}

}  // namespace

CodeObjectMetadata parse_metadata(ByteView message_pack) {
  DepthLimit depth;
  json::sax_parse(message_pack.begin(), message_pack.end(), &depth, json::input_format_t::msgpack);
  const json root = json::from_msgpack(message_pack.begin(), message_pack.end());
  const Map map(root, "the root");
  const json::array_t version = map.list("amdhsa.version");
  if (version.size() != 2 || !version[0].is_number_unsigned() || !version[1].is_number_unsigned()) {
    fail("amdhsa.version is not two unsigned integers");
  }
  const auto major = version[0].get<uint64_t>();
  const auto minor = version[1].get<uint64_t>();
  if (major != 1 || minor < 1 || minor > 2) {
    fail(fmt::format("amdhsa.version is {}.{}, known are 1.1 and 1.2", major, minor));
  }
  CodeObjectMetadata metadata = {.major = static_cast<int>(major),
                                 .minor = static_cast<int>(minor),
                                 .target = map.text_or_empty("amdhsa.target"),
                                 .kernels = {}};
  const json::array_t kernels = map.list("amdhsa.kernels");
  for (size_t i = 0; i < kernels.size(); ++i)
    metadata.kernels.push_back(read_kernel(kernels[i], i));
  return metadata;
}

}  // namespace baton
