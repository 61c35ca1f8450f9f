#include <catch2/catch.hpp>

#include "runtime/key/key_text.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

using tests::user_error;

std::string key_error(const std::string& text) {
  const std::string error = user_error([&] { parse_key(text); });
  const size_t colon = error.find("': ");
  return colon == error.npos ? error : error.substr(colon + 3);
}

TEST_CASE("a family alone is a key") {
  const KeyText key = parse_key("attn_post");
  CHECK(key.family == "attn_post");
  CHECK(key.fields.empty());
}

TEST_CASE("fields keep their order and their text") {
  const KeyText key = parse_key("k2:b=8,a_1=1e-05,sent=ar+latr,x=auto,y=-3.5E2");
  CHECK(key.family == "k2");
  REQUIRE(key.fields.size() == 5);
  CHECK(key.fields[0].name == "b");
  CHECK(key.fields[0].value == "8");
  CHECK(key.fields[1].name == "a_1");
  CHECK(key.fields[1].value == "1e-05");
  CHECK(key.fields[2].value == "ar+latr");
  CHECK(key.fields[3].value == "auto");
  CHECK(key.fields[4].value == "-3.5E2");
}

TEST_CASE("each way of being wrong is named with its position") {
  CHECK(user_error([] { parse_key(""); }) == "the key is empty");
  CHECK(key_error(":tokens=8") == "expected a family name at position 1, found ':'");
  CHECK(key_error("Attn") == "expected a family name at position 1, found 'A'");
  CHECK(key_error("9k") == "expected a family name at position 1, found '9'");
  CHECK(key_error("attn post") == "expected ':' or the end at position 5, found ' '");
  CHECK(key_error("attn:") == "expected a field name at position 6, found the end");
  CHECK(key_error("attn:tokens") ==
        "expected '=' after the field 'tokens' at position 12, found the end");
  CHECK(key_error("attn:tokens:8") ==
        "expected '=' after the field 'tokens' at position 12, found ':'");
  CHECK(key_error("attn:tokens=") ==
        "expected a value of the field 'tokens' at position 13, found the end");
  CHECK(key_error("attn:tokens=,b=1") ==
        "expected a value of the field 'tokens' at position 13, found ','");
  CHECK(key_error("attn:tokens==8") ==
        "expected a value of the field 'tokens' at position 13, found '='");
  CHECK(key_error("attn:tokens=8,") == "expected a field name at position 15, found the end");
  CHECK(key_error("attn:tokens=8,,b=1") == "expected a field name at position 15, found ','");
  CHECK(key_error("attn:tokens=8 ") == "expected ',' or the end at position 14, found ' '");
  CHECK(key_error("attn:tokens=8;b=1") == "expected ',' or the end at position 14, found ';'");
  CHECK(key_error("attn:a=1,b=2,a=1") == "the field 'a' stands twice");
  CHECK(key_error("attn:a=\xc3\xa4") ==
        "expected a value of the field 'a' at position 8, found '\\xc3'");
  CHECK(key_error("attn\n") == "expected ':' or the end at position 5, found '\\x0a'");
}

TEST_CASE("the limit on the length is exact, and a long key is cut in its error") {
  const std::string at_limit(kMaxKeyChars, 'a');
  CHECK(parse_key(at_limit).family == at_limit);
  const std::string error = user_error([&] { parse_key(at_limit + "a"); });
  CHECK(error.ends_with("...': 1025 characters, over the limit of 1024"));
  CHECK(error.size() < 200);
}

}  // namespace
}  // namespace baton
