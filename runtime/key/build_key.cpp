#include "runtime/key/build_key.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace baton {
namespace {

struct TextOf {
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(bool value) const { return value ? "1" : "0"; }
  std::string operator()(const KeySet& set) const {
    return set.empty() ? "none" : fmt::format("{}", fmt::join(set, "+"));
  }
};

void append_word(Bytes& bytes, size_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(value >> shift));
}

void append_text(Bytes& bytes, std::string_view text) {
  append_word(bytes, text.size());
  bytes.insert(bytes.end(), text.begin(), text.end());
}

}  // namespace

std::string text_of(const KeyValue& value) { return std::visit(TextOf{}, value); }

std::string BuildKey::text() const {
  std::string text = family_;
  char separator = ':';
  for (const KeyField& field : fields_) {
    text += fmt::format("{}{}={}", separator, field.name, text_of(field.value));
    separator = ',';
  }
  return text;
}

template <typename T>
const T& BuildKey::get(std::string_view name) const {
  const auto field = std::ranges::find(fields_, name, &KeyField::name);
  BATON_CHECK(field != fields_.end(), fmt::format("{} has no field {}", family_, name));
  const T* value = std::get_if<T>(&field->value);
  BATON_CHECK(value != nullptr, fmt::format("{}'s field {} has another type", family_, name));
  return *value;
}

int64_t BuildKey::integer(std::string_view name) const { return get<int64_t>(name); }
float BuildKey::number(std::string_view name) const { return get<float>(name); }
bool BuildKey::flag(std::string_view name) const { return get<bool>(name); }
bool BuildKey::has(std::string_view name, std::string_view member) const {
  const KeySet& set = get<KeySet>(name);
  return std::ranges::find(set, member) != set.end();
}

Bytes BuildKey::canonical_bytes() const {
  constexpr size_t kVersion = 1;
  Bytes bytes;
  append_text(bytes, "baton build key");
  append_word(bytes, kVersion);
  append_text(bytes, family_);
  append_text(bytes, chip_);
  append_word(bytes, fields_.size());
  for (const KeyField& field : fields_) {
    append_text(bytes, field.name);
    append_word(bytes, field.value.index());
    append_text(bytes, text_of(field.value));
  }
  return bytes;
}

Digest BuildKey::digest() const { return sha256(canonical_bytes()); }

}  // namespace baton
