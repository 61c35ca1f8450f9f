#include <catch2/catch.hpp>

#include "builds/schema.h"
#include "runtime/base/error.h"
#include "tests/support/expect_error.h"

namespace baton::builds {
namespace {

using tests::error_of;
using tests::user_error;

/// One field of every kind, and a rule across two of them.
Family sample_family() {
  return {.name = "sample",
          .title = "a family for tests",
          .fields = {{"tokens", IntegerField{1, 64, 8}, "rows"},
                     {"eps", NumberField{.max = 1.0f, .fallback = 1e-5f}, "epsilon"},
                     {"reset", FlagField{true}, "restart"},
                     {"two_shot",
                      AutoFlagField{[](const BuildKey& key) { return key.integer("tokens") > 8; },
                                    "tokens > 8"},
                      "scatter, then broadcast"},
                     {"sent", SetField{{"ar", "latr", "final"}}, "sentinel all-reduces"}},
          .check = [](const BuildKey& key) {
            if (key.integer("tokens") == 13 && key.flag("reset")) {
              throw Error(ErrorKind::user, "tokens=13 goes with reset=0 only");
            }
          }};
}

std::string completed(const std::string& text) {
  return complete(sample_family(), parse_key(text), "gfx942").text();
}

/// A number with limits of its own, and an integer whose default follows from another.
Family wide_family() {
  return {.name = "wide",
          .title = "a family for tests",
          .fields = {{"qlen", IntegerField{1, 16, 1}, "tokens of a request"},
                     {"state_len",
                      AutoIntegerField{3, 40,
                                       [](const BuildKey& key) { return key.integer("qlen") + 2; },
                                       "qlen + 2"},
                      "entries"},
                     {"bound", NumberField{-10.0f, 0.0f, -5.0f}, "a bound"}},
          .check = {}};
}

std::string wide(const std::string& text) {
  return complete(wide_family(), parse_key(text), "gfx950").text();
}

TEST_CASE("absent fields take their defaults, in the schema's order") {
  CHECK(completed("sample") == "sample:tokens=8,eps=1e-05,reset=1,two_shot=0,sent=none");
  CHECK(completed("sample:sent=ar,tokens=9") ==
        "sample:tokens=9,eps=1e-05,reset=1,two_shot=1,sent=ar");
  CHECK(complete(sample_family(), parse_key("sample"), "gfx942").chip() == "gfx942");
}

TEST_CASE("a canonical text completes to itself") {
  for (const char* text : {"sample", "sample:tokens=64,reset=0,sent=ar+final", "sample:eps=3e-7"}) {
    CHECK(completed(completed(text)) == completed(text));
  }
}

TEST_CASE("ways to spell a value are one key") {
  for (const char* text : {"sample:eps=1e-5", "sample:eps=1e-05", "sample:eps=0.00001",
                           "sample:eps=0.1E-4", "sample:eps=1.00000001e-5"}) {
    CHECK(completed(text) == completed("sample"));
  }
  CHECK(completed("sample:tokens=08") == completed("sample"));
  CHECK(completed("sample:two_shot=auto") == completed("sample:two_shot=0"));
  CHECK(completed("sample:tokens=9,two_shot=auto") == completed("sample:tokens=9,two_shot=1"));
  CHECK(completed("sample:sent=final+ar") == completed("sample:sent=ar+final+ar"));
  CHECK(completed("sample:sent=none") == completed("sample"));
  for (const char* zero : {"-0", "-0.0", "0e9"}) {
    CHECK(wide(std::string("wide:bound=") + zero) == wide("wide:bound=0"));
  }
}

TEST_CASE("integers are checked against both limits") {
  CHECK(completed("sample:tokens=1").find("tokens=1,") != std::string::npos);
  CHECK(completed("sample:tokens=64").find("tokens=64,") != std::string::npos);
  for (const char* bad :
       {"0", "65", "-1", "8.0", "8x", "x8", "1e1", "99999999999999999999", "+8"}) {
    CHECK(user_error([&] { completed(std::string("sample:tokens=") + bad); }) ==
          fmt::format("sample: the field tokens is '{}', expected 1 to 64", bad));
  }
  CHECK(error_of(ErrorKind::user, [] { completed("sample:tokens=65"); }).hint() == "tokens: rows");
}

TEST_CASE("numbers are positive, normal and bounded") {
  CHECK(completed("sample:eps=1").find("eps=1,") != std::string::npos);
  CHECK(completed("sample:eps=1.1754944e-38").find("eps=1.1754944e-38,") != std::string::npos);
  for (const char* bad :
       {"0", "-0", "-1e-5", "1.0001", "nan", "inf", "1e", "0x1p-3", "1e-5f", "auto"}) {
    CHECK(user_error([&] { completed(std::string("sample:eps=") + bad); }) ==
          fmt::format("sample: the field eps is '{}', expected a number above 0, up to 1", bad));
  }
  for (const auto& [bad, size] : {std::pair("1e-39", "small"), std::pair("1.1754942e-38", "small"),
                                  std::pair("1e-50", "small"), std::pair("-1e-400", "small"),
                                  std::pair("3.5e38", "large"), std::pair("1e400", "large")}) {
    CHECK_THAT(user_error([&] { completed(std::string("sample:eps=") + bad); }),
               Catch::StartsWith(fmt::format(
                   "sample: the field eps is '{}', too {} for a float32, expected", bad, size)));
  }
}

TEST_CASE("an integer may follow from the fields before it") {
  CHECK(wide("wide") == "wide:qlen=1,state_len=3,bound=-5");
  CHECK(wide("wide:state_len=auto,qlen=4") == wide("wide:qlen=4,state_len=6"));
  CHECK(wide("wide:state_len=40") == "wide:qlen=1,state_len=40,bound=-5");
  for (const char* bad : {"2", "41", "Auto", "", "3.5"}) {
    CHECK(user_error([&] { wide(std::string("wide:state_len=") + bad); }).find("state_len") !=
          std::string::npos);
  }
  CHECK(range_text(wide_family().fields[1]) == "3 to 40 or auto");
  CHECK(default_text(wide_family().fields[1]) == "auto (qlen + 2)");
}

TEST_CASE("a number has the limits that its field says") {
  CHECK(wide("wide:bound=-10") == "wide:qlen=1,state_len=3,bound=-10");
  CHECK(wide("wide:bound=0").ends_with("bound=0"));
  for (const char* bad : {"-10.001", "1e-3", "nan", "-inf"}) {
    CHECK(user_error([&] { wide(std::string("wide:bound=") + bad); }) ==
          fmt::format("wide: the field bound is '{}', expected a number, -10 to 0", bad));
  }
}

TEST_CASE("flags are 0 or 1, and auto only where the schema has it") {
  CHECK(user_error([] { completed("sample:reset=auto"); }) ==
        "sample: the field reset is 'auto', expected 0 or 1");
  CHECK(user_error([] { completed("sample:reset=true"); }) ==
        "sample: the field reset is 'true', expected 0 or 1");
  CHECK(user_error([] { completed("sample:two_shot=2"); }) ==
        "sample: the field two_shot is '2', expected 0, 1 or auto");
}

TEST_CASE("sets hold known members") {
  for (const char* bad : {"ra", "ar+", "+ar", "ar++latr", "ar+none", "AR"}) {
    CHECK(user_error([&] { completed(std::string("sample:sent=") + bad); }) ==
          fmt::format("sample: the field sent is '{}', expected none, or any of ar, latr, final "
                      "joined with +",
                      bad));
  }
}

TEST_CASE("an unknown field lists the fields, and the near one") {
  const Error slip = error_of(ErrorKind::user, [] { completed("sample:token=8"); });
  CHECK(slip.what() == std::string("sample has no field 'token'"));
  CHECK(slip.hint() == "did you mean 'tokens'? its fields: tokens, eps, reset, two_shot, sent");
  const Error far = error_of(ErrorKind::user, [] { completed("sample:width=8"); });
  CHECK(far.hint() == "its fields: tokens, eps, reset, two_shot, sent");
}

TEST_CASE("rules across fields and unknown chips are the user's errors") {
  CHECK(user_error([] { completed("sample:tokens=13"); }) == "tokens=13 goes with reset=0 only");
  CHECK(completed("sample:tokens=13,reset=0").starts_with("sample:tokens=13"));
  CHECK(user_error([] { complete(sample_family(), parse_key("sample"), "gfx1100"); }) ==
        "unknown chip 'gfx1100'");
}

TEST_CASE("ranges and defaults read well") {
  const Family family = sample_family();
  CHECK(range_text(family.fields[0]) == "1 to 64");
  CHECK(default_text(family.fields[0]) == "8");
  CHECK(default_text(family.fields[1]) == "1e-05");
  CHECK(default_text(family.fields[2]) == "1");
  CHECK(default_text(family.fields[3]) == "auto (tokens > 8)");
  CHECK(default_text(family.fields[4]) == "none");
}

}  // namespace
}  // namespace baton::builds
