#include <array>
#include <catch2/catch.hpp>

#include "runtime/base/text.h"

namespace baton {
namespace {

TEST_CASE("quoted text stays on one printable line of bounded length") {
  CHECK(quote("tokens") == "'tokens'");
  CHECK(quote(std::string_view("a\n\0\x1b\xff", 5)) == "'a\\x0a\\x00\\x1b\\xff'");
  CHECK(quote("") == "''");
  CHECK(quote("abcdef", 3) == "'abc...'");
}

TEST_CASE("printable text has no control bytes and keeps all others") {
  CHECK(printable("a b\xc3\xa9") == "a b\xc3\xa9");
  CHECK(printable(std::string_view("\x1b[31m\n\0\x7f", 8)) == "\\x1b[31m\\x0a\\x00\\x7f");
  CHECK(printable("").empty());
}

TEST_CASE("nearest finds typing slips and nothing else") {
  constexpr std::array<std::string_view, 4> kWords = {"tokens", "nblocks", "eps", "out_eps"};
  CHECK(nearest("token", kWords) == "tokens");
  CHECK(nearest("tokesn", kWords) == "tokens");
  CHECK(nearest("nblock", kWords) == "nblocks");
  CHECK(nearest("esp", kWords).empty());  // two edits are too many for three letters
  CHECK(nearest("ep", kWords) == "eps");
  CHECK(nearest("banana", kWords).empty());
  CHECK(nearest("", kWords).empty());
  CHECK(nearest("tokens", {}).empty());
}

}  // namespace
}  // namespace baton
