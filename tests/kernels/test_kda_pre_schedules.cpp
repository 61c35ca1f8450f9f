// kda_pre's results depend on no interleaving of waves, no number of threads and no late stage; it
// loads in_proj's weights once.
#include <catch2/catch.hpp>

#include "tests/kernels/kda_pre_run.h"

namespace baton::tests {
namespace {

using builds::kimi_k3::random_kda_pre_inputs;

/// What a launch on the same inputs leaves.
builds::RankMaps outputs_under(const BuildKey& key, const CodeObject& object,
                               const builds::RankTensors& inputs, const RunOptions& options) {
  EmulatedRanks rank(key, object, options);
  return builds::run_step(rank.collective(), key, inputs, /*layer=*/3).outputs;
}

void check_schedules(uint64_t seeds) {
  const BuildKey key =
      builds::complete_key("kda_pre:tokens=4,qlen=2,nblocks=2,write_idx=2", "gfx950");
  const CodeObject object = builds::build(key).code_object;
  const builds::RankTensors inputs = random_kda_pre_inputs(key, 1);
  EmulatedRanks rank(key, object, {.threads = 1});
  const auto first = builds::run_step(rank.collective(), key, inputs, /*layer=*/3);
  REQUIRE(failures_of(builds::check_step(key, inputs, first), 0) == std::vector<std::string>());
  const auto check_same = [&](const RunOptions& options) {
    const auto other = outputs_under(key, object, inputs, options);
    CHECK(differences(other, first.outputs) == std::vector<std::string>());
  };
  for (const int threads : {2, 4}) {
    INFO(threads << " threads");
    check_same({.threads = threads});
  }
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("schedule seed " << seed);
    check_same({.schedule = seed});
  }
}

TEST_CASE("kda_pre gives the same bits under 5 seeds and on 1, 2 and 4 threads") {
  check_schedules(5);
}

TEST_CASE("kda_pre gives the same bits under 50 seeds", "[.][whole]") { check_schedules(50); }

TEST_CASE("a stage held back changes no bit") {
  const BuildKey key = builds::complete_key("kda_pre:tokens=4,qlen=4,nblocks=1", "gfx950");
  const CodeObject object = builds::build(key).code_object;
  const builds::RankTensors inputs = random_kda_pre_inputs(key, 2);
  const auto first = outputs_under(key, object, inputs, {.threads = 2});
  for (const char* stage :
       {"in_proj", "slice", "gate", "mix", "conv", "gates", "recurrence", "norm"}) {
    INFO(stage);
    const RunOptions late{.schedule = 1, .delays = {{0, stage, 200'000}}};
    CHECK(differences(outputs_under(key, object, inputs, late), first) ==
          std::vector<std::string>());
  }
}

TEST_CASE("in_proj loads its weights once, whatever the width") {
  // Not on gfx90a, whose policy bits do not tell apart what x and the weights are loaded with.
  const std::string chip = GENERATE("gfx950", "gfx942");
  const int tokens = GENERATE(1, 17, 32);
  const BuildKey key =
      builds::complete_key(fmt::format("kda_pre:tokens={},nblocks=1", tokens), chip);
  INFO(key.text() << " for " << chip);
  EmulatedRanks rank(key, builds::build(key).code_object, {.threads = 2});
  builds::run_step(rank.collective(), key, random_kda_pre_inputs(key, 1), /*layer=*/3);
  const auto report = rank.emulator().report();
  REQUIRE(report.kernels.size() == 1);
  uint64_t plain = 0;
  for (const auto& stage : report.kernels[0].stages) {
    // x is another workgroup's: it comes at device scope.
    if (stage.stage == "in_proj") plain += stage.counters.bytes[emulator::Counters::kLoad][0];
  }
  CHECK(plain == uint64_t{6288} * 7168 * 2);
}

}  // namespace
}  // namespace baton::tests
