#include "runtime/cache/sealed.h"

#include <nlohmann/json.hpp>

#include "runtime/base/digest.h"
#include "runtime/base/error.h"

namespace baton {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kBefore = ",\n  \"seal\": \"";
constexpr std::string_view kAfter = "\"\n}\n";
constexpr std::string_view kPlainEnd = "\n}";
constexpr size_t kSealChars = kBefore.size() + 64 + kAfter.size();

[[noreturn]] void fail(std::string_view source, std::string_view what) {
  throw Error(ErrorKind::failed_check, fmt::format("{}: {}", source, what));
}

const ordered_json& field(const ordered_json& object, const char* name, std::string_view source) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) fail(source, fmt::format("field {} is missing", name));
  return *found;
}

}  // namespace

std::string seal(const ordered_json& object) {
  std::string text = object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
  BATON_CHECK(text.ends_with(kPlainEnd), text);
  text.resize(text.size() - kPlainEnd.size());
  const Digest digest = sha256(as_bytes(text));
  return fmt::format("{}{}{}{}", text, kBefore, digest.hex(), kAfter);
}

ordered_json unseal(std::string_view text, std::string_view source) {
  if (text.size() < kSealChars) {
    fail(source, fmt::format("cut short: {} bytes are no whole file", text.size()));
  }
  const std::string_view body = text.substr(0, text.size() - kSealChars);
  const std::string_view end = text.substr(body.size());
  if (!end.starts_with(kBefore) || !end.ends_with(kAfter)) {
    fail(source, "it does not end with its seal: cut short or changed");
  }
  const Digest digest = sha256(as_bytes(body));
  if (end.substr(kBefore.size(), 64) != digest.hex()) {
    fail(source, "its contents do not match its seal: a byte was changed");
  }
  ordered_json object = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) fail(source, "sealed, but no JSON object");
  return object;
}

std::string text_field(const ordered_json& object, const char* name, std::string_view source) {
  const ordered_json& value = field(object, name, source);
  if (!value.is_string()) fail(source, fmt::format("field {} is no string", name));
  return value.get<std::string>();
}

uint64_t number_field(const ordered_json& object, const char* name, std::string_view source) {
  const ordered_json& value = field(object, name, source);
  if (!value.is_number_unsigned()) fail(source, fmt::format("field {} is no number", name));
  return value.get<uint64_t>();
}

}  // namespace baton
