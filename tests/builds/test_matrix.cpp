#include <catch2/catch.hpp>

#include "builds/families.h"
#include "builds/matrix.h"
#include "tests/support/expect_error.h"

namespace baton::builds {
namespace {

using tests::error_of;

std::vector<std::string> texts(std::string_view toml, std::vector<std::string> chips = {}) {
  std::vector<std::string> list;
  for (const BuildKey& key : read_matrix(toml, "m.toml", chips).keys) {
    list.push_back(key.text() + "@" + key.chip());
  }
  return list;
}

std::string canonical(const std::string& text, const std::string& chip = "gfx950") {
  return complete_key(text, chip).text() + "@" + chip;
}

TEST_CASE("values, lists and ranges span the keys, the schema's last field fastest") {
  const std::vector<std::string> keys = texts(R"(
    name = "x"
    chips = ["gfx950"]
    [[build]]
    kernel = "attn_post"
    sent = ["none", "ar"]
    nblocks = { from = 2, to = 7, step = 3 }
    tokens = 3
    eps = 1e-6
    reset = true
  )");
  std::vector<std::string> expected;
  for (const char* nblocks : {"2", "5"}) {
    for (const char* sent : {"none", "ar"}) {
      expected.push_back(canonical(std::string("attn_post:tokens=3,eps=1e-6,reset=1,nblocks=") +
                                   nblocks + ",sent=" + sent));
    }
  }
  CHECK(keys == expected);
  CHECK(read_matrix("name='x'\nchips=['gfx942']\n[[build]]\nkernel='attn_post'", "m").name == "x");
}

TEST_CASE("every chip gets every key, each key once; given chips replace the file's") {
  constexpr const char* kToml =
      "chips = ['gfx950', 'gfx90a']\n"
      "[[build]]\nkernel = 'attn_post'\ntokens = [1, 2]\n"
      "[[build]]\nkernel = 'attn_post'\ntokens = [2, 3]\n";
  CHECK(texts(kToml) ==
        std::vector{canonical("attn_post:tokens=1"), canonical("attn_post:tokens=2"),
                    canonical("attn_post:tokens=3"), canonical("attn_post:tokens=1", "gfx90a"),
                    canonical("attn_post:tokens=2", "gfx90a"),
                    canonical("attn_post:tokens=3", "gfx90a")});
  CHECK(texts(kToml, {"gfx942"}).size() == 3);
  CHECK(texts(kToml, {"gfx942"})[0] == canonical("attn_post:tokens=1", "gfx942"));
}

TEST_CASE("an exclude leaves out the keys that have all of its values, defaults counted") {
  const std::vector<std::string> keys = texts(R"(
    chips = ["gfx950"]
    [[build]]
    kernel = "attn_post"
    tokens = [1, 8, 16]
    sent = ["none", "ar"]
    [[build.exclude]]
    tokens = [1, 8]
    sent = "ar"
    [[build.exclude]]
    two_shot = true   # auto: tokens > 8
    sent = "none"
  )");
  CHECK(keys == std::vector{canonical("attn_post:tokens=1"), canonical("attn_post:tokens=8"),
                            canonical("attn_post:tokens=16,sent=ar")});
}

TEST_CASE("an exclude also leaves out what the kernel would refuse") {
  CHECK(texts(R"(
    chips = ["gfx950"]
    [[build]]
    kernel = "kda_pre"
    tokens = [4, 6]
    qlen = [2, 4]
    [[build.exclude]]
    tokens = 6
    qlen = 4
  )")
            .size() == 3);
}

struct Wrong {
  const char* toml;
  const char* message;
};

TEST_CASE("what is wrong is named with its line") {
  constexpr const char* kHead = "chips = ['gfx950']\n[[build]]\nkernel = 'attn_post'\n";
  const Wrong wrongs[] = {
      {"tokens = 65", "m.toml:2: attn_post: the field tokens is '65', expected 1 to 64"},
      {"tokens = [65, 1, 66]",
       "m.toml:2: attn_post: the field tokens is '65', expected 1 to 64, and 1 more"},
      {"token = 1", "m.toml:4: attn_post has no field 'token'"},
      {"tokens = []", "m.toml:4: an empty list leaves no key"},
      {"tokens = [[1]]", "m.toml:4: a value is an integer, a number, true, false or a string"},
      {"tokens = { from = 3, to = 1 }", "m.toml:4: from 3 to 1 by 1 is no range"},
      {"tokens = { from = 1, to = 2, step = 0 }", "m.toml:4: from 1 to 2 by 0 is no range"},
      {"tokens = { from = 1 }", "m.toml:4: a range needs to as an integer"},
      {"tokens = { from = 1, to = 'x' }", "m.toml:4: a range needs to as an integer"},
      {"tokens = { form = 1, to = 2 }", "m.toml:4: a range has no field 'form'"},
      {"tokens = { from = 0, to = 9223372036854775807 }",
       "m.toml:4: from 0 to 9223372036854775807 by 1 is no range"},
      {"eps = 1e-50", "m.toml:2: attn_post: the field eps is '1e-50', too small for a float32"},
      {"tokens = { from = 1, to = 65536 }\nnblocks = { from = 1, to = 65536 }\n"
       "eps = { from = 1, to = 65536 }\nout_eps = { from = 1, to = 65536 }",
       "m.toml:2: it spans over 100000 keys"},
      {"tokens = 1\n[[build.exclude]]\ntokens = 1", "m.toml:1: the matrix spans no key"},
      {"exclude = 1", "m.toml:4: exclude is no list of tables"},
      {"[[build.exclude]]\ntokens = 7", "m.toml:4: this exclude leaves nothing out"},
      {"[[build.exclude]]", "m.toml:4: an exclude without fields leaves no key"},
      {"[[build.exclude]]\nkernel = 'x'", "m.toml:5: attn_post has no field 'kernel'"},
      {"kernel = 'twice'", "m.toml:4: Error while parsing key-value pair: cannot redefine"},
      {"tokens = ", "m.toml:4: "},
  };
  for (const Wrong& wrong : wrongs) {
    CAPTURE(wrong.toml);
    const Error error =
        error_of(ErrorKind::user, [&] { read_matrix(std::string(kHead) + wrong.toml, "m.toml"); });
    CHECK_THAT(error.what(), Catch::StartsWith(wrong.message));
  }
}

TEST_CASE("a matrix of nothing is refused") {
  const auto refused = [](const char* toml) {
    return std::string(error_of(ErrorKind::user, [&] { read_matrix(toml, "m.toml"); }).what());
  };
  CHECK_THAT(refused(""), Catch::Contains("no chip"));
  CHECK_THAT(refused("chips = ['gfx950']"), Catch::Contains("no [[build]]"));
  CHECK_THAT(refused("chips = ['gfx950']\nbuild = []"), Catch::Contains("no [[build]]"));
  CHECK_THAT(refused("chips = ['gfx950']\nbuild = 1"), Catch::Contains("no [[build]]"));
  CHECK_THAT(refused("chips = ['gfx950']\n[[build]]"), Catch::Contains("needs kernel"));
  CHECK_THAT(refused("chips = ['gfx950']\n[[build]]\nkernel = 1"),
             Catch::Contains("kernel is no string"));
  CHECK_THAT(refused("chips = ['gfx951']\n[[build]]\nkernel = 'attn_post'"),
             Catch::StartsWith("m.toml:1: ") && Catch::Contains("'gfx951'"));
  CHECK_THAT(refused("chips = ['gfx950']\n[[build]]\nkernel = 'attn_pst'"),
             Catch::StartsWith("m.toml:3: ") && Catch::Contains("'attn_pst'"));
  CHECK_THAT(refused("chip = ['gfx950']"), Catch::Contains("no field 'chip'"));
}

}  // namespace
}  // namespace baton::builds
