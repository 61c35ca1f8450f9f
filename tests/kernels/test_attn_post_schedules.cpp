// attn_post's results depend on no interleaving of waves and no number of threads.
#include <catch2/catch.hpp>

#include "tests/kernels/attn_post_run.h"

namespace baton::tests {
namespace {

TEST_CASE("attn_post gives the same bits under 20 seeds and on 1, 2 and 4 threads") {
  const BuildKey key = builds::complete_key("attn_post:tokens=2,nblocks=3", "gfx950");
  const CodeObject object = builds::build(key).code_object;
  const RunResult first = run_attn_post(key, object, {.threads = 1});
  REQUIRE(first.failures == std::vector<std::string>());
  const auto differences = [&](const RunOptions& options) {
    const RunResult other = run_attn_post(key, object, options);
    std::vector<std::string> differing;
    for (size_t rank = 0; rank < kRanks; ++rank) {
      REQUIRE(other.outputs[rank].size() == first.outputs[rank].size());
      for (const auto& [name, tensor] : first.outputs[rank]) {
        if (other.outputs[rank].at(name).bytes == tensor.bytes) continue;
        differing.push_back(fmt::format("{} of rank {}", name, rank));
      }
    }
    return differing;
  };
  const std::vector<std::string> none;
  for (const int threads : {2, 4}) {
    INFO(threads << " threads");
    CHECK(differences({.threads = threads}) == none);
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    INFO("schedule seed " << seed);
    CHECK(differences({.schedule = seed}) == none);
  }
}

}  // namespace
}  // namespace baton::tests
