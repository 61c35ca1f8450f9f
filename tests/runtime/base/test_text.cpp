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

TEST_CASE("parse_number reads the whole text or nothing") {
  CHECK(parse_number<uint32_t>("4294967295") == 4294967295u);
  CHECK(parse_number<int64_t>("-12") == -12);
  CHECK(parse_number<uint64_t>("ff", 16) == 255u);
  CHECK(parse_number<float>("0.5") == 0.5f);
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "0x1", "4294967296", "-1"}) {
    INFO(text);
    CHECK_FALSE(parse_number<uint32_t>(text));
  }
  CHECK_FALSE(parse_number<float>("1e999"));
}

TEST_CASE("sizes are read with their unit") {
  CHECK(parse_size("0") == 0);
  CHECK(parse_size("4096") == 4096);
  CHECK(parse_size("64K") == 65536);
  CHECK(parse_size("3M") == 3145728);
  CHECK(parse_size("4G") == 4294967296);
  CHECK(parse_size("17179869183G") == 18446744072635809792u);
  for (const char* wrong : {"", "K", "-1", "1.5G", "1k", "1 K", "17179869184G", "0x10"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_size(wrong));
  }
}

TEST_CASE("sizes are written for people") {
  CHECK(size_text(0) == "0 bytes");
  CHECK(size_text(1023) == "1023 bytes");
  CHECK(size_text(1536) == "1.5 KiB");
  CHECK(size_text(43168) == "42 KiB");
  CHECK(size_text(uint64_t{4} << 30) == "4.0 GiB");
  CHECK(size_text(uint64_t{5000} << 30) == "5000 GiB");
}

}  // namespace
}  // namespace baton
