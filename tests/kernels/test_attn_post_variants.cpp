// attn_post's four protocol variants, for every width: tagged pairs in one shot against the
// reference; sentinel words and two shots give the same bits.
#include <catch2/catch.hpp>

#include "tests/kernels/kernel_run.h"

namespace baton::tests {
namespace {

const std::vector<std::string> kNone;

/// Runs all four variants of a shape on the same inputs. Comparing one with the reference compares
/// all; `each_with_reference` does so stage by stage.
void check_variants(const std::string& shape, const std::string& chip, bool each_with_reference) {
  std::optional<builds::RankMaps> first;
  for (const char* variant :
       {"two_shot=0", "two_shot=1", "two_shot=0,sent=ar", "two_shot=1,sent=ar"}) {
    const BuildKey key = builds::complete_key(fmt::format("attn_post:{},{}", shape, variant), chip);
    INFO(key.text() << " for " << chip);
    const CodeObject object = builds::build(key).code_object;
    if (!first || each_with_reference) {
      RunResult result = run_kernel(key, object, {.threads = 2});
      CHECK(result.failures == kNone);
      if (first) CHECK(differences(result.outputs, *first) == kNone);
      if (!first) first = std::move(result.outputs);
      continue;
    }
    EmulatedRanks ranks(key, object, {.threads = 2});
    const builds::KernelCheck& check = builds::find_kernel_check(key);
    const auto inputs = check.random_inputs(key, RunOptions().input_seed);
    check.upload(ranks.collective(), key, inputs, /*layer=*/3);
    ranks.collective().step();
    CHECK(differences(outputs_of(ranks.collective()), *first) == kNone);
  }
}

TEMPLATE_TEST_CASE_SIG("attn_post's variants on gfx950", "", ((int tokens), tokens), 1, 3, 8, 9, 16,
                       17, 24, 32, 48, 64) {
  for (const char* rest : {"nblocks=8", "nblocks=1,reset=1"}) {
    check_variants(fmt::format("tokens={},{}", tokens, rest), "gfx950",
                   /*each_with_reference=*/tokens == 3);
  }
}

TEMPLATE_TEST_CASE_SIG("attn_post's other variants on gfx950", "[.][whole]", ((int tokens), tokens),
                       1, 3, 8, 9, 16, 17, 24, 32, 48, 64) {
  for (const char* rest : {"nblocks=1", "nblocks=8,reset=1"}) {
    check_variants(fmt::format("tokens={},{}", tokens, rest), "gfx950",
                   /*each_with_reference=*/false);
  }
}

TEMPLATE_TEST_CASE_SIG("attn_post's variants on gfx942 and gfx90a", "", ((int tokens), tokens), 1,
                       17, 48) {
  check_variants(fmt::format("tokens={},nblocks=8", tokens), "gfx942", tokens == 17);
  check_variants(fmt::format("tokens={},nblocks=1,reset=1", tokens), "gfx90a", tokens == 1);
}

}  // namespace
}  // namespace baton::tests
