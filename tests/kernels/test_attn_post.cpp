// The bytes that a GPU would load, run on 8 emulated ranks, against the reference: stage by stage,
// end to end, and rank against rank.
#include <catch2/catch.hpp>

#include "tests/kernels/kernel_run.h"

namespace baton::tests {
namespace {

RunResult run(const std::string& key_text, const std::string& chip, const RunOptions& options) {
  const BuildKey key = builds::complete_key(key_text, chip);
  return run_kernel(key, builds::build(key).code_object, options);
}

void check_right(const std::string& key_text, const std::string& chip, const RunOptions& options) {
  INFO(key_text << " for " << chip << ", input seed " << options.input_seed);
  const RunResult result = run(key_text, chip, options);
  // A rank has 2 comparisons of its pushes and 5 of its stages; 2 end to end; 7 ranks x 2.
  CHECK(result.comparisons == static_cast<size_t>(options.steps) * (8 * 7 + 2 + 14));
  CHECK(result.failures == std::vector<std::string>());
}

TEST_CASE("attn_post is right on every chip, for one, an odd and the largest number of tokens") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  const std::string key =
      GENERATE("tokens=1,nblocks=1", "tokens=1,nblocks=8", "tokens=3,nblocks=1",
               "tokens=3,nblocks=8", "tokens=8,nblocks=1", "tokens=8,nblocks=8");
  check_right("attn_post:" + key, chip, {.threads = 2});
}

TEST_CASE("attn_post with reset restarts the prefix") {
  check_right("attn_post:tokens=3,nblocks=5,reset=1", "gfx950", {.threads = 2});
}

TEST_CASE("attn_post is right five steps in a row") {
  check_right("attn_post:tokens=2,nblocks=2", "gfx950", {.threads = 2, .steps = 5});
}

}  // namespace
}  // namespace baton::tests
