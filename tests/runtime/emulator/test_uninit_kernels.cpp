// The project's kernels use nothing that they did not write.
#include <catch2/catch.hpp>

#include "tests/runtime/emulator/attn_post.h"

namespace baton::tests {
namespace {

TEST_CASE("attn_post uses no uninitialised register or LDS", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  const std::string text = GENERATE("attn_post:tokens=1,nblocks=1", "attn_post:tokens=3,nblocks=8");
  INFO(text << " for " << chip);
  const BuildKey key = builds::complete_key(text, chip);
  AttnPost run(key, attn_post_object(key), {.threads = 2, .check_uninit = true});
  CHECK(run.failure() == "");
}

TEST_CASE("attn_post without its barriers is found out, with the stage", "[emulator]") {
  const BuildKey key = builds::complete_key("attn_post:tokens=1,nblocks=1", "gfx950");
  const CodeObject broken = without(attn_post_object(key), "", "s_barrier");
  std::string what;
  uint64_t seed = 0;
  for (; seed < 50 && what.empty(); ++seed) {
    AttnPost run(key, broken, {.seed = seed, .check_uninit = true});
    what = run.failure();
  }
  INFO("seed " << seed - 1 << ": " << what);
  CHECK_THAT(what,
             Catch::Contains("uninitialised registers or LDS") && Catch::Contains("; in stage ") &&
                 Catch::Contains("it comes from LDS byte ") && Catch::Contains(", read in stage "));
}

}  // namespace
}  // namespace baton::tests
