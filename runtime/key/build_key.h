// A build key: everything that a user chooses about one code object. Complete, checked, canonical.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/digest.h"

namespace baton {

/// A set of names, each once, in the schema's order.
using KeySet = std::vector<std::string>;

using KeyValue = std::variant<int64_t, float, bool, KeySet>;

/// "8", "1e-05" (the shortest text that reads back as the same float), "0" / "1", "a+b" / "none".
std::string text_of(const KeyValue& value);

struct KeyField {
  std::string name;
  KeyValue value;

  bool operator==(const KeyField&) const = default;
};

/// Made by a family's schema, which supplies every field in its order, so equal builds are equal
/// keys.
class BuildKey {
 public:
  BuildKey(std::string family, std::vector<KeyField> fields, std::string chip)
      : family_(std::move(family)), fields_(std::move(fields)), chip_(std::move(chip)) {}

  const std::string& family() const { return family_; }
  const std::vector<KeyField>& fields() const { return fields_; }
  const std::string& chip() const { return chip_; }

  /// The canonical text, without the chip: "attn_post:tokens=8,nblocks=8,...".
  std::string text() const;

  // The field of that name and type; a check fails (a fault of ours) when there is none.
  int64_t integer(std::string_view name) const;
  float number(std::string_view name) const;
  bool flag(std::string_view name) const;
  bool has(std::string_view name, std::string_view member) const;  ///< of a set

  /// Family, chip, and each field's name, type and value, length-prefixed behind a version: two
  /// keys have the same bytes only when they are the same key.
  Bytes canonical_bytes() const;
  /// SHA-256 of canonical_bytes.
  Digest digest() const;

  bool operator==(const BuildKey&) const = default;

 private:
  template <typename T>
  const T& get(std::string_view name) const;

  std::string family_;
  std::vector<KeyField> fields_;
  std::string chip_;
};

}  // namespace baton
