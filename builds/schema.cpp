#include "builds/schema.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/target/target.h"

namespace baton::builds {
namespace {

template <typename... Handlers>
struct Match : Handlers... {
  using Handlers::operator()...;
};

/// Reads one field's value, or its default when there is no text.
class FieldReader {
 public:
  FieldReader(const Family& family, const Field& field, const std::string* text)
      : family_(family), field_(field), text_(text) {}

  KeyValue read(const BuildKey& before) const {
    return std::visit(
        Match{
            [&](const IntegerField& kind) -> KeyValue {
              return text_ == nullptr ? kind.fallback : read_integer(kind.min, kind.max);
            },
            [&](const AutoIntegerField& kind) -> KeyValue {
              return is_auto() ? kind.rule(before) : read_integer(kind.min, kind.max);
            },
            [&](const NumberField& kind) -> KeyValue { return read_number(kind); },
            [&](const FlagField& kind) -> KeyValue { return read_flag().value_or(kind.fallback); },
            [&](const AutoFlagField& kind) -> KeyValue {
              return is_auto() ? kind.rule(before) : *read_flag();
            },
            [&](const SetField& kind) -> KeyValue { return read_set(kind); }},
        field_.kind);
  }

 private:
  bool is_auto() const { return text_ == nullptr || *text_ == "auto"; }

  int64_t read_integer(int64_t min, int64_t max) const {
    const std::optional<int64_t> value = parse_number<int64_t>(*text_);
    if (!value || *value < min || *value > max) fail();
    return *value;
  }

  float read_number(const NumberField& kind) const {
    if (text_ == nullptr) return kind.fallback;
    const std::optional<float> value = parse_number<float>(*text_);
    if (!value || !(*value >= kind.min && *value <= kind.max)) fail(float_misfit());
    return *value == 0 ? 0.0f : *value;  // -0 is another spelling of 0
  }

  std::optional<bool> read_flag() const {
    if (text_ == nullptr) return std::nullopt;
    if (*text_ != "0" && *text_ != "1") fail();
    return *text_ == "1";
  }

  KeySet read_set(const SetField& kind) const {
    if (text_ == nullptr || *text_ == "none") return {};
    std::vector<bool> chosen(kind.members.size());
    std::string_view rest = *text_;
    while (true) {
      const size_t plus = rest.find('+');
      const auto member = std::ranges::find(kind.members, rest.substr(0, plus));
      if (member == kind.members.end()) fail();
      chosen[static_cast<size_t>(member - kind.members.begin())] = true;
      if (plus == rest.npos) break;
      rest.remove_prefix(plus + 1);
    }
    KeySet set;
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i]) set.emplace_back(kind.members[i]);
    }
    return set;
  }

  /// Why a number is no normal float32; empty when it is one, or no number.
  std::string_view float_misfit() const {
    using Limits = std::numeric_limits<float>;
    const std::optional<long double> value = parse_number<long double>(*text_);
    if (!value || *value == 0 || !std::isfinite(*value)) return "";
    const long double size = std::abs(*value);
    return size < Limits::min()   ? ", too small for a float32"
           : size > Limits::max() ? ", too large for a float32"
                                  : "";
  }

  [[noreturn]] void fail(std::string_view misfit = "") const {
    throw Error(ErrorKind::user,
                fmt::format("{}: the field {} is {}{}, expected {}", family_.name, field_.name,
                            quote(*text_), misfit, range_text(field_)),
                fmt::format("{}: {}", field_.name, field_.meaning));
  }

  const Family& family_;
  const Field& field_;
  const std::string* text_;
};

void refuse_unknown_fields(const Family& family, const KeyText& key) {
  std::vector<std::string_view> names;
  for (const Field& field : family.fields) names.push_back(field.name);
  for (const KeyTextField& given : key.fields) {
    if (std::ranges::find(names, given.name) != names.end()) continue;
    const std::string_view near = nearest(given.name, names);
    const std::string list = fmt::format("its fields: {}", fmt::join(names, ", "));
    throw Error(ErrorKind::user, fmt::format("{} has no field {}", family.name, quote(given.name)),
                near.empty() ? list : fmt::format("did you mean '{}'? {}", near, list));
  }
}

}  // namespace

std::string range_text(const Field& field) {
  return std::visit(
      Match{[](const IntegerField& kind) { return fmt::format("{} to {}", kind.min, kind.max); },
            [](const AutoIntegerField& kind) {
              return fmt::format("{} to {} or auto", kind.min, kind.max);
            },
            [](const NumberField& kind) {
              return kind.min == kSmallestNumber
                         ? fmt::format("a number above 0, up to {}", kind.max)
                         : fmt::format("a number, {} to {}", kind.min, kind.max);
            },
            [](const FlagField&) { return std::string("0 or 1"); },
            [](const AutoFlagField&) { return std::string("0, 1 or auto"); },
            [](const SetField& kind) {
              return fmt::format("none, or any of {} joined with +", fmt::join(kind.members, ", "));
            }},
      field.kind);
}

std::string default_text(const Field& field) {
  return std::visit(
      Match{[](const IntegerField& kind) { return text_of(kind.fallback); },
            [](const AutoIntegerField& kind) { return fmt::format("auto ({})", kind.rule_text); },
            [](const NumberField& kind) { return text_of(kind.fallback); },
            [](const FlagField& kind) { return text_of(kind.fallback); },
            [](const AutoFlagField& kind) { return fmt::format("auto ({})", kind.rule_text); },
            [](const SetField&) { return text_of(KeySet{}); }},
      field.kind);
}

BuildKey complete(const Family& family, const KeyText& key, std::string_view chip) {
  BATON_CHECK(key.family == family.name);
  const Target& target = find_target(chip);
  refuse_unknown_fields(family, key);
  std::vector<KeyField> fields;
  for (const Field& field : family.fields) {
    const auto given = std::ranges::find(key.fields, field.name, &KeyTextField::name);
    const FieldReader reader(family, field, given == key.fields.end() ? nullptr : &given->value);
    const BuildKey before(key.family, fields, std::string(target.chip));
    fields.push_back({std::string(field.name), reader.read(before)});
  }
  BuildKey complete_key(key.family, std::move(fields), std::string(target.chip));
  if (family.check) family.check(complete_key);
  return complete_key;
}

}  // namespace baton::builds
