#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "runtime/key/build_key.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

using tests::error_of;

BuildKey sample() {
  return {"attn_post",
          {{"tokens", int64_t{8}}, {"eps", 1e-5f}, {"reset", true}, {"sent", KeySet{"ar", "latr"}}},
          "gfx950"};
}

TEST_CASE("the canonical text lists every field in order") {
  CHECK(sample().text() == "attn_post:tokens=8,eps=1e-05,reset=1,sent=ar+latr");
  CHECK(BuildKey("plain", {}, "gfx950").text() == "plain");
  CHECK(text_of(KeySet{}) == "none");
  CHECK(text_of(false) == "0");
  CHECK(text_of(int64_t{-3}) == "-3");
}

TEST_CASE("a float is its shortest text") {
  CHECK(text_of(0.1f) == "0.1");
  CHECK(text_of(1.0f) == "1");
  CHECK(text_of(1e-6f) == "1e-06");
  CHECK(text_of(std::numeric_limits<float>::min()) == "1.1754944e-38");
  CHECK(text_of(std::nextafter(1.0f, 2.0f)) == "1.0000001");
}

TEST_CASE("fields are read by name and type") {
  const BuildKey key = sample();
  CHECK(key.integer("tokens") == 8);
  CHECK(key.number("eps") == 1e-5f);
  CHECK(key.flag("reset"));
  CHECK(key.has("sent", "ar"));
  CHECK_FALSE(key.has("sent", "final"));
  CHECK(error_of(ErrorKind::failed_check, [&] { key.integer("token"); }).what() != std::string());
  error_of(ErrorKind::failed_check, [&] { key.integer("reset"); });
  error_of(ErrorKind::failed_check, [&] { key.flag("tokens"); });
}

TEST_CASE("any change of a key changes its digest") {
  std::set<std::string> digests = {sample().digest().hex()};
  const auto expect_new = [&](const BuildKey& key) {
    CHECK(digests.insert(key.digest().hex()).second);
    CHECK_FALSE(key == sample());
  };
  const std::vector<KeyField> fields = sample().fields();
  expect_new({"attn_pos", fields, "gfx950"});
  expect_new({"attn_post", fields, "gfx942"});
  const std::vector<KeyValue> others = {int64_t{9}, 2e-5f, false, KeySet{"ar"}};
  for (size_t i = 0; i < fields.size(); ++i) {
    std::vector<KeyField> changed = fields;
    changed[i].value = others[i];
    expect_new({"attn_post", changed, "gfx950"});
    changed = fields;
    changed[i].name += "x";
    expect_new({"attn_post", changed, "gfx950"});
    changed = fields;
    changed.erase(changed.begin() + static_cast<ptrdiff_t>(i));
    expect_new({"attn_post", changed, "gfx950"});
  }
  // The same text in another type, and the same characters split elsewhere.
  expect_new({"k", {{"a", true}}, "c"});
  expect_new({"k", {{"a", int64_t{1}}}, "c"});
  expect_new({"k", {{"a", KeySet{"1"}}}, "c"});
  expect_new({"k", {{"a1", KeySet{"b"}}}, "c"});
  expect_new({"ka", {{"1", KeySet{"b"}}}, "c"});
  CHECK(sample().digest() == sample().digest());
}

// Written out by hand from the description in build_key.h: length-prefixed little-endian words.
TEST_CASE("the canonical bytes are as described") {
  const Bytes bytes = BuildKey("k", {{"n", int64_t{7}}}, "gfx950").canonical_bytes();
  const std::string expected = std::string("\x0f\0\0\0", 4) + "baton build key" +
                               std::string("\x01\0\0\0", 4) + std::string("\x01\0\0\0k", 5) +
                               std::string("\x06\0\0\0gfx950", 10) + std::string("\x01\0\0\0", 4) +
                               std::string("\x01\0\0\0n", 5) + std::string("\0\0\0\0", 4) +
                               std::string(
                                   "\x01\0\0\0"
                                   "7",
                                   5);
  CHECK(std::string(bytes.begin(), bytes.end()) == expected);
}

}  // namespace
}  // namespace baton
