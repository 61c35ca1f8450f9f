#include "runtime/object/record.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/object/handoff_protocol.h"

namespace baton {
namespace {

using nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorKind::user, message); }

// Each enum's names, by value; writing and reading share them.
constexpr std::array<std::string_view, 4> kArgumentKinds = {"buffer", "i32", "i64", "f32"};
constexpr std::array<std::string_view, 3> kArgumentAccesses = {"read", "write", "read_write"};
constexpr std::array<std::string_view, 2> kRegionSpaces = {"scratch", "peer"};
constexpr std::array<std::string_view, 3> kRegionProtocols = {"tagged", "sentinel", "plain"};

std::span<const std::string_view> names_of(ArgumentKind) { return kArgumentKinds; }
std::span<const std::string_view> names_of(ArgumentAccess) { return kArgumentAccesses; }
std::span<const std::string_view> names_of(RegionSpace) { return kRegionSpaces; }
std::span<const std::string_view> names_of(RegionProtocol) { return kRegionProtocols; }

template <typename Enum>
std::string_view name_in_table(Enum value) {
  return names_of(value)[static_cast<size_t>(value)];
}

/// Writing sees const structures, reading mutable ones; the list of fields stands once for both.
template <typename Self, typename T>
concept Is = std::same_as<std::remove_const_t<Self>, T>;

template <typename Archive, Is<RecordArgument> Self>
void visit(Archive& archive, Self& self) {
  archive("name", self.name);
  archive("kind", self.kind);
  archive("access", self.access);
  archive("dtype", self.dtype);
  archive("shape", self.shape);
  archive("offset", self.offset);
  archive("size", self.size);
}

template <typename Archive, Is<RecordResources> Self>
void visit(Archive& archive, Self& self) {
  archive("vgprs", self.vgprs);
  archive("agprs", self.agprs);
  archive("sgprs", self.sgprs);
  archive("lds_bytes", self.lds_bytes);
  archive("scratch_bytes", self.scratch_bytes);
  archive("vgpr_spills", self.vgpr_spills);
  archive("sgpr_spills", self.sgpr_spills);
  archive("kernarg_bytes", self.kernarg_bytes);
  archive("workgroup_lanes", self.workgroup_lanes);
  archive("grid_workgroups", self.grid_workgroups);
}

template <typename Archive, Is<Occupancy> Self>
void visit(Archive& archive, Self& self) {
  archive("waves_per_simd", self.waves_per_simd);
  archive("workgroups_per_cu", self.workgroups_per_cu);
}

template <typename Archive, Is<RecordRegion> Self>
void visit(Archive& archive, Self& self) {
  archive("name", self.name);
  archive("space", self.space);
  archive("protocol", self.protocol);
  archive("dtype", self.dtype);
  archive("shape", self.shape);
  archive("offset", self.offset);
  archive("bytes", self.bytes);
}

template <typename Archive, Is<RecordTotals> Self>
void visit(Archive& archive, Self& self) {
  archive("scratch_bytes", self.scratch_bytes);
  archive("peer_half_bytes", self.peer_half_bytes);
}

template <typename Archive, Is<Record> Self>
void visit(Archive& archive, Self& self) {
  archive("baton_version", self.baton_version);
  archive("llvm_version", self.llvm_version);
  archive("key", self.key);
  archive("chip", self.chip);
  archive("kernel", self.kernel);
  archive("sha256", self.sha256);
  archive("resources", self.resources);
  archive("occupancy", self.occupancy);
  archive("arguments", self.arguments);
  archive("regions", self.regions);
  archive("stages", self.stages);
  archive("timeline", self.timeline);
  archive("bounded_waits", self.bounded_waits);
  archive("totals", self.totals);
}

class Writer {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    json_[name] = encode(value);
  }

  ordered_json take() { return std::move(json_); }

 private:
  template <typename T>
  static ordered_json encode(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return std::string(name_in_table(value));
    } else if constexpr (std::is_constructible_v<ordered_json, const T&> && !std::is_class_v<T>) {
      return value;
    } else {
      Writer writer;
      visit(writer, value);
      return writer.take();
    }
  }
  static ordered_json encode(const std::string& value) { return value; }
  template <typename T>
  static ordered_json encode(const std::vector<T>& values) {
    ordered_json array = ordered_json::array();
    for (const T& value : values) array.push_back(encode(value));
    return array;
  }

  ordered_json json_ = ordered_json::object();
};

/// Reads one object; `path` is how errors call it: "arguments[2]".
class Reader {
 public:
  Reader(const ordered_json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json.is_object()) fail_type(path_, json, "an object");
  }

  template <typename T>
  void operator()(const char* name, T& value) {
    seen_.insert(name);
    const std::string path = path_.empty() ? name : path_ + "." + name;
    const auto found = json_.find(name);
    if (found == json_.end()) fail(fmt::format("field {} is missing", path));
    decode(*found, path, value);
  }

  void refuse_unknown() const {
    for (const auto& item : json_.items()) {
      if (seen_.contains(item.key())) continue;
      fail(fmt::format("unknown field {}{}{}", path_, path_.empty() ? "" : ".", quote(item.key())));
    }
  }

 private:
  [[noreturn]] static void fail_type(const std::string& path, const ordered_json& json,
                                     const char* expected) {
    fail(fmt::format("{} is {}, expected {}", path.empty() ? "the record" : path, json.type_name(),
                     expected));
  }

  static void decode(const ordered_json& json, const std::string& path, std::string& value) {
    if (!json.is_string()) fail_type(path, json, "a string");
    value = json.get<std::string>();
  }

  static void decode(const ordered_json& json, const std::string& path, bool& value) {
    if (!json.is_boolean()) fail_type(path, json, "true or false");
    value = json.get<bool>();
  }

  template <typename T>
  static void decode(const ordered_json& json, const std::string& path, std::vector<T>& values) {
    if (!json.is_array()) fail_type(path, json, "an array");
    for (size_t i = 0; i < json.size(); ++i) {
      decode(json[i], fmt::format("{}[{}]", path, i), values.emplace_back());
    }
  }

  template <typename T>
  static void decode(const ordered_json& json, const std::string& path, T& value) {
    if constexpr (std::is_enum_v<T>) {
      std::string text;
      decode(json, path, text);
      const std::span<const std::string_view> names = names_of(T{});
      const auto found = std::ranges::find(names, text);
      if (found == names.end()) {
        fail(
            fmt::format("{} is {}, expected one of {}", path, quote(text), fmt::join(names, ", ")));
      }
      value = static_cast<T>(found - names.begin());
    } else if constexpr (std::is_integral_v<T>) {
      // No field is negative, and none needs the top bit of 64.
      if (!json.is_number_unsigned()) fail_type(path, json, "an unsigned integer");
      constexpr auto kLimit = static_cast<uint64_t>(
          std::min<uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<int64_t>::max()));
      const auto wide = json.get<uint64_t>();
      if (wide > kLimit) fail(fmt::format("{} is {}, over {}", path, wide, kLimit));
      value = static_cast<T>(wide);
    } else {
      Reader reader(json, path);
      visit(reader, value);
      reader.refuse_unknown();
    }
  }

  const ordered_json& json_;
  std::string path_;
  std::set<std::string, std::less<>> seen_;
};

Record decode_record(const ordered_json& json) {
  Reader reader(json, "");
  uint32_t format = 0;
  reader("format", format);
  if (format != kRecordFormat) {
    fail(fmt::format("format is {}, this version of Baton reads {}", format, kRecordFormat));
  }
  Record record{};
  visit(reader, record);
  reader.refuse_unknown();
  return record;
}

void check_shape(const std::string& what, const std::vector<int64_t>& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) fail(what + ".shape has a zero");
}

void check_arguments(const Record& record) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < record.arguments.size(); ++i) {
    const RecordArgument& argument = record.arguments[i];
    const std::string what = fmt::format("arguments[{}]", i);
    if (argument.name.empty()) fail(what + ".name is empty");
    if (!names.insert(argument.name).second) {
      fail(fmt::format("{}: a second argument {}", what, quote(argument.name)));
    }
    const bool wide = argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::i64;
    if (argument.size != (wide ? 8u : 4u)) {
      fail(fmt::format("{}.size is {}, but {} takes {}", what, argument.size, name(argument.kind),
                       wide ? 8 : 4));
    }
    const uint64_t end = uint64_t{argument.offset} + argument.size;
    if (end > record.resources.kernarg_bytes) {
      fail(fmt::format("{} ends at byte {}, past the kernarg segment's {}", what, end,
                       record.resources.kernarg_bytes));
    }
    check_shape(what, argument.shape);
  }
}

/// The bytes of a region follow from its shape, dtype and protocol. 0 stands for too many.
uint64_t bytes_of_shape(const RecordRegion& region) {
  uint64_t bytes = region.dtype == "bf16" ? 2 : kWordBytes;
  if (region.protocol == RegionProtocol::tagged) bytes *= kPairBytes / kWordBytes;
  for (int64_t size : region.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) return 0;
  }
  return bytes;
}

void check_region_shape(const std::string& what, const RecordRegion& region) {
  check_shape(what, region.shape);
  if (region.dtype != "bf16" && region.dtype != "f32" && region.dtype != "i32") {
    fail(fmt::format("{}.dtype is {}, expected one of bf16, f32, i32", what, quote(region.dtype)));
  }
  const bool blocked = region.shape.size() == 3 && region.dtype == "bf16" &&
                       region.shape[2] % kSentinelBlockColumns == 0;
  if (region.protocol == RegionProtocol::sentinel && !blocked) {
    fail(
        fmt::format("{} is a sentinel region: expected bf16 of shape [sources, tokens, width], "
                    "the width a multiple of {}",
                    what, kSentinelBlockColumns));
  }
  if (region.shape.empty() || region.bytes != bytes_of_shape(region)) {
    fail(fmt::format("{}.bytes is {}, but its shape takes {}", what, region.bytes,
                     bytes_of_shape(region)));
  }
}

void check_regions(const Record& record) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < record.regions.size(); ++i) {
    const RecordRegion& region = record.regions[i];
    const std::string what = fmt::format("regions[{}]", i);
    if (region.name.empty()) fail(what + ".name is empty");
    if (!names.insert(region.name).second) {
      fail(fmt::format("{}: a second region {}", what, quote(region.name)));
    }
    const uint64_t total = region.space == RegionSpace::scratch ? record.totals.scratch_bytes
                                                                : record.totals.peer_half_bytes;
    if (region.bytes > total || region.offset > total - region.bytes) {
      fail(fmt::format("{} takes {} bytes at {}, past the {} of its {} buffer", what, region.bytes,
                       region.offset, total, name(region.space)));
    }
    check_region_shape(what, region);
  }
}

void check_rest(const Record& record) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (record.sha256.size() != 64 || !std::ranges::all_of(record.sha256, is_hex)) {
    fail(fmt::format("sha256 is {}, expected 64 lower-case hex digits", quote(record.sha256)));
  }
  if (record.kernel.empty()) fail("kernel is empty");
  constexpr uint32_t kMaxWorkgroupLanes = 1024;
  const uint32_t lanes = record.resources.workgroup_lanes;
  if (lanes == 0 || lanes > kMaxWorkgroupLanes) {
    fail(fmt::format("resources.workgroup_lanes is {}, limits are 1 and {}", lanes,
                     kMaxWorkgroupLanes));
  }
  if (record.resources.grid_workgroups == 0) fail("resources.grid_workgroups is 0");
}

ordered_json parse_text(std::string_view text) {
  try {
    return ordered_json::parse(text);
  } catch (const ordered_json::parse_error& error) {
    fail(fmt::format("not valid JSON at byte {}", error.byte));
  } catch (const ordered_json::exception& error) {
    fail(fmt::format("not valid JSON: {}", error.what()));
  }
}

}  // namespace

std::string_view name(ArgumentKind kind) { return name_in_table(kind); }
std::string_view name(ArgumentAccess access) { return name_in_table(access); }
std::string_view name(RegionSpace space) { return name_in_table(space); }
std::string_view name(RegionProtocol protocol) { return name_in_table(protocol); }

std::string Record::to_json() const {
  Writer writer;
  writer("format", kRecordFormat);
  visit(writer, *this);
  constexpr int kIndent = 2;
  return writer.take().dump(kIndent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Record Record::from_json(std::string_view text, std::string_view source) {
  try {
    Record record = decode_record(parse_text(text));
    check_rest(record);
    check_arguments(record);
    check_regions(record);
    return record;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: record: {}", source, error.what()), error.hint());
  }
}

}  // namespace baton
