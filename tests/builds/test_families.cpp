#include <catch2/catch.hpp>
#include <set>

#include "builds/families.h"
#include "runtime/target/target.h"
#include "tests/support/expect_error.h"

namespace baton::builds {
namespace {

using tests::error_of;
using tests::user_error;

TEST_CASE("every family completes from its bare name, on every chip, to its own defaults") {
  std::set<std::string_view> names;
  for (const Family& family : families()) {
    INFO(family.name);
    CHECK(names.insert(family.name).second);
    CHECK_FALSE(family.title.empty());
    for (const Target& target : all_targets()) {
      const BuildKey key = complete_key(family.name, target.chip);
      CHECK(complete_key(key.text(), target.chip) == key);
    }
    for (const Field& field : family.fields) CHECK_FALSE(field.meaning.empty());
  }
  CHECK(names.contains("attn_post"));
}

TEST_CASE("an unknown kernel lists the kernels") {
  const Error error =
      error_of(ErrorKind::user, [] { complete_key("attn_pst:tokens=8", "gfx950"); });
  CHECK(error.what() == std::string("unknown kernel 'attn_pst'"));
  CHECK(error.hint().starts_with("did you mean 'attn_post'? kernels: attn_post"));
}

// Limits and defaults as the kernel's specification gives them; two-shot from 9 tokens on.
TEST_CASE("attn_post's key") {
  CHECK(complete_key("attn_post", "gfx950").text() ==
        "attn_post:tokens=8,nblocks=8,eps=1e-05,out_eps=1e-05,two_shot=0,sent=none,reset=0,"
        "timeline=0,diag=0");
  CHECK_FALSE(complete_key("attn_post:tokens=8", "gfx950").flag("two_shot"));
  CHECK(complete_key("attn_post:tokens=9", "gfx950").flag("two_shot"));
  CHECK_FALSE(complete_key("attn_post:tokens=64,two_shot=0", "gfx950").flag("two_shot"));
  CHECK(complete_key("attn_post:sent=ar", "gfx950").has("sent", "ar"));
  for (const char* bad : {"tokens=0", "tokens=65", "nblocks=0", "nblocks=9", "eps=0", "reset=2",
                          "sent=latr", "two_shot=2", "timeline=x", "diag=2"}) {
    user_error([&] { complete_key(std::string("attn_post:") + bad, "gfx950"); });
  }
  CHECK(complete_key("attn_post:tokens=1,nblocks=1,reset=1", "gfx90a").flag("reset"));
}

TEST_CASE("each field and the chip change attn_post's digest") {
  std::set<std::string> digests = {complete_key("attn_post", "gfx950").digest().hex()};
  for (const char* change : {"tokens=7", "nblocks=7", "eps=2e-5", "out_eps=2e-5", "two_shot=1",
                             "sent=ar", "reset=1", "timeline=1", "diag=1"}) {
    const BuildKey key = complete_key(std::string("attn_post:") + change, "gfx950");
    CHECK(digests.insert(key.digest().hex()).second);
  }
  CHECK(digests.insert(complete_key("attn_post", "gfx942").digest().hex()).second);
  CHECK(digests.size() == 2 + families().front().fields.size());
}

}  // namespace
}  // namespace baton::builds
