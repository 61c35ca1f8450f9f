// The grammar of a build key as a user types it: family:field=value,field=value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

inline constexpr size_t kMaxKeyChars = 1024;

struct KeyTextField {
  std::string name;
  std::string value;
};

/// A key as written: what the fields mean is the family's schema's to say.
struct KeyText {
  std::string family;
  std::vector<KeyTextField> fields;  ///< in the order written, each name once
};

/// `family` or `family:field=value,...`. Family and field names are a lower-case letter, then
/// lower-case letters, digits and `_`; values are letters, digits and `_ . + -`. Throws Error
/// (user) that names the position (the first character is 1) or the field.
KeyText parse_key(std::string_view text);

}  // namespace baton
