#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/base/digest.h"
#include "runtime/cache/sealed.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

using nlohmann::ordered_json;
using tests::error_of;

const ordered_json kSample = {{"format", 1}, {"key", "a:b=1"}, {"bytes", 12345}};

TEST_CASE("a sealed text is JSON, ends with the SHA-256 of what stands before, and reads back") {
  const std::string text = seal(kSample);
  const std::string body = "{\n  \"format\": 1,\n  \"key\": \"a:b=1\",\n  \"bytes\": 12345";
  CHECK(text == body + ",\n  \"seal\": \"" + sha256(as_bytes(body)).hex() + "\"\n}\n");
  const ordered_json read = unseal(text, "x.json");
  CHECK(text_field(read, "key", "x.json") == "a:b=1");
  CHECK(number_field(read, "bytes", "x.json") == 12345);
}

TEST_CASE("every bit of a sealed text counts") {
  const std::string text = seal(kSample);
  for (size_t i = 0; i < text.size() * 8; ++i) {
    std::string changed = text;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    CAPTURE(i, changed);
    CHECK_THROWS_AS(unseal(changed, "x.json"), Error);
  }
}

TEST_CASE("a sealed text that is cut or continued is refused by name") {
  const std::string text = seal(kSample);
  for (size_t size = 0; size < text.size(); ++size) {
    const Error error =
        error_of(ErrorKind::failed_check, [&] { unseal(text.substr(0, size), "x.json"); });
    CHECK(std::string(error.what()).starts_with("x.json: "));
  }
  CHECK_THROWS_AS(unseal(text + "\n", "x.json"), Error);
  CHECK_THROWS_AS(unseal(text + text, "x.json"), Error);
}

TEST_CASE("a field that is missing or of another type is named") {
  const auto what = [](auto body) {
    return std::string(error_of(ErrorKind::failed_check, body).what());
  };
  CHECK(what([] { text_field(kSample, "chip", "x"); }) == "x: field chip is missing");
  CHECK(what([] { text_field(kSample, "bytes", "x"); }) == "x: field bytes is no string");
  CHECK(what([] { number_field(kSample, "key", "x"); }) == "x: field key is no number");
  CHECK(what([] { number_field({{"n", -1}}, "n", "x"); }) == "x: field n is no number");
}

}  // namespace
}  // namespace baton
