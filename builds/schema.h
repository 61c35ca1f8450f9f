// What a kernel family lets a user choose: fields with ranges, defaults and a meaning, and the way
// from key text to a complete, checked key.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/key/build_key.h"
#include "runtime/key/key_text.h"

namespace baton::builds {

struct IntegerField {
  int64_t min, max;
  int64_t fallback;
};

/// A number or `auto`, the default: then `rule` decides, which sees the fields listed before this
/// one. The complete key holds what was decided, so `auto` and its outcome spelt out are one key.
struct AutoIntegerField {
  int64_t min, max;
  std::function<int64_t(const BuildKey& before)> rule;
  std::string_view rule_text;  ///< "qlen + 2"
};

/// The smallest number above 0 that is not denormal.
inline constexpr float kSmallestNumber = std::numeric_limits<float>::min();

struct NumberField {
  float min = kSmallestNumber;
  float max;
  float fallback;
};

struct FlagField {
  bool fallback;
};

/// 0, 1 or `auto`, the default; as in AutoIntegerField.
struct AutoFlagField {
  std::function<bool(const BuildKey& before)> rule;
  std::string_view rule_text;  ///< "tokens > 8"
};

/// Any of `members`, joined with `+`; `none` is the empty set and the default.
struct SetField {
  std::vector<std::string_view> members;
};

struct Field {
  std::string_view name;
  std::variant<IntegerField, AutoIntegerField, NumberField, FlagField, AutoFlagField, SetField>
      kind;
  std::string_view meaning;  ///< one line
};

std::string range_text(const Field& field);    ///< "1 to 8", "0 or 1", "0, 1 or auto", ...
std::string default_text(const Field& field);  ///< "8", "auto (tokens > 8)", "none", ...

struct Family {
  std::string_view name;
  std::string_view title;  ///< one line
  std::vector<Field> fields;
  /// Rules across fields: throws Error (user) that names them. May be empty.
  std::function<void(const BuildKey&)> check;
};

/// Every field, in the schema's order, from the text or its default; `key.family` is the family's
/// name. Throws Error (user) for an unknown field, a value of the wrong form or out of range, an
/// unknown chip, and whatever the family's own check refuses.
BuildKey complete(const Family& family, const KeyText& key, std::string_view chip);

}  // namespace baton::builds
