#include "runtime/key/key_text.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton {
namespace {

constexpr const char* kGrammar =
    "a key reads family:field=value,field=value - for example attn_post:tokens=8,nblocks=8";

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_lower(c) || is_digit(c) || c == '_'; }
bool is_value(char c) {
  return is_name(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '+' || c == '-';
}

class KeyParser {
 public:
  explicit KeyParser(std::string_view text) : text_(text) {}

  KeyText parse() {
    if (text_.empty()) throw Error(ErrorKind::user, "the key is empty", kGrammar);
    if (text_.size() > kMaxKeyChars) {
      fail(fmt::format("{} characters, over the limit of {}", text_.size(), kMaxKeyChars));
    }
    KeyText key;
    key.family = take_name("a family name");
    if (at_end()) return key;
    expect(':', "':' or the end");
    while (true) {
      key.fields.push_back(take_field(key.fields));
      if (at_end()) return key;
      expect(',', "',' or the end");
    }
  }

 private:
  KeyTextField take_field(const std::vector<KeyTextField>& before) {
    KeyTextField field;
    field.name = take_name("a field name");
    if (std::ranges::find(before, field.name, &KeyTextField::name) != before.end()) {
      fail(fmt::format("the field {} stands twice", quote(field.name)));
    }
    expect('=', fmt::format("'=' after the field {}", quote(field.name)));
    const size_t start = at_;
    while (!at_end() && is_value(text_[at_])) ++at_;
    if (at_ == start) fail_at(fmt::format("a value of the field {}", quote(field.name)));
    field.value = text_.substr(start, at_ - start);
    return field;
  }

  std::string take_name(const std::string& expected) {
    const size_t start = at_;
    if (at_end() || !is_lower(text_[at_])) fail_at(expected);
    while (!at_end() && is_name(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  void expect(char c, const std::string& expected) {
    if (at_end() || text_[at_] != c) fail_at(expected);
    ++at_;
  }

  bool at_end() const { return at_ == text_.size(); }

  [[noreturn]] void fail_at(const std::string& expected) const {
    const std::string found = at_end() ? "the end" : quote(text_.substr(at_, 1));
    fail(fmt::format("expected {} at position {}, found {}", expected, at_ + 1, found));
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorKind::user, fmt::format("key {}: {}", quote(text_), message), kGrammar);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

KeyText parse_key(std::string_view text) { return KeyParser(text).parse(); }

}  // namespace baton
