// attn_post's results depend on no interleaving of waves and no number of threads.
#include <catch2/catch.hpp>

#include "tests/kernels/kernel_run.h"

namespace baton::tests {
namespace {

TEST_CASE("attn_post gives the same bits under 20 seeds and on 1, 2 and 4 threads") {
  const BuildKey key = builds::complete_key("attn_post:tokens=2,nblocks=3", "gfx950");
  const CodeObject object = builds::build(key).code_object;
  const RunResult first = run_kernel(key, object, {.threads = 1});
  REQUIRE(first.failures == std::vector<std::string>());
  REQUIRE(first.outputs[7].contains("x_out"));
  const auto check_same = [&](const RunOptions& options) {
    const RunResult other = run_kernel(key, object, options);
    CHECK(differences(other.outputs, first.outputs) == std::vector<std::string>());
  };
  for (const int threads : {2, 4}) {
    INFO(threads << " threads");
    check_same({.threads = threads});
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    INFO("schedule seed " << seed);
    check_same({.schedule = seed});
  }
}

}  // namespace
}  // namespace baton::tests
