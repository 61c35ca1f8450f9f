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

}  // namespace
}  // namespace baton::tests
