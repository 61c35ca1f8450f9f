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
  CHECK(names.contains("kda_pre"));
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

// Limits and defaults as the kernel's specification gives them.
TEST_CASE("kda_pre's key") {
  CHECK(complete_key("kda_pre", "gfx950").text() ==
        "kda_pre:tokens=8,qlen=1,nblocks=8,delta=1,state_len=3,eps=1e-05,out_eps=1e-05,"
        "onorm_eps=1e-05,lower_bound=-5,write_idx=-1,timeline=0,diag=0,debug=0");
  CHECK(complete_key("kda_pre:qlen=8", "gfx950").integer("state_len") == 10);
  CHECK(complete_key("kda_pre:state_len=9", "gfx950").integer("state_len") == 9);
  CHECK(complete_key("kda_pre:nblocks=3,write_idx=3", "gfx950").integer("write_idx") == 3);
  CHECK(complete_key("kda_pre:tokens=32,qlen=16,state_len=21", "gfx942").integer("tokens") == 32);
  for (const char* bad :
       {"tokens=0", "tokens=33", "qlen=0", "tokens=32,qlen=17", "qlen=3", "tokens=4,qlen=8",
        "qlen=4,state_len=5", "state_len=10", "qlen=2,state_len=11", "nblocks=9", "write_idx=-2",
        "write_idx=0", "write_idx=7", "nblocks=2,write_idx=1", "delta=2", "lower_bound=1",
        "lower_bound=nan", "onorm_eps=0", "debug=x"}) {
    INFO(bad);
    user_error([&] { complete_key(std::string("kda_pre:") + bad, "gfx950"); });
  }
}

}  // namespace
}  // namespace baton::builds
