// Ranks held back at a stage.
#include <catch2/catch.hpp>

#include "tests/runtime/emulator/attn_post.h"

namespace baton::tests {
namespace {

using Catch::Contains;
using emulator::Counters;
using emulator::Delay;
using emulator::EmulatorOptions;

const BuildKey& small_key() {
  static const BuildKey key = builds::complete_key("attn_post:tokens=2,nblocks=1", "gfx950");
  return key;
}

/// Steps and parks of a right run.
std::pair<uint64_t, uint64_t> run_with(const EmulatorOptions& options, int steps = 1) {
  AttnPost run(small_key(), attn_post_object(small_key()), options);
  for (int i = 0; i < steps; ++i) CHECK(run.step_is_right());
  const Counters c = run.emulator().report().counters;
  return {c.steps, c.parks};
}

TEST_CASE("delayed ranks change the order of arrival and no result", "[emulator]") {
  for (const std::string stage : {"reduce", "slice", "gate"}) {
    INFO(stage);
    run_with({.delays = {{3, stage, 100000}, {5, stage, 1u << 30}, {5, "mix", 20000}}});
  }
  run_with({.seed = 7, .delays = {{3, "o", 100000}, {5, "reduce", 1u << 30}}});
  run_with({.threads = 2, .delays = {{3, "o", 100000}, {6, "reduce", 50000}}}, 2);
}

TEST_CASE("a delay under a seed is deterministic, and delays", "[emulator]") {
  const auto plain = run_with({.seed = 2});
  const auto delayed = run_with({.seed = 2, .delays = {{4, "o", 300000}}});
  CHECK(run_with({.seed = 2, .delays = {{4, "o", 300000}}}) == delayed);
  // The other ranks wait for the delayed one's partials, and are set aside meanwhile.
  CHECK(delayed.second > plain.second);
  CHECK(run_with({.seed = 2, .delays = {{4, "o", 0}}}) == plain);
}

TEST_CASE("a stage that no kernel has is refused with the stages there are", "[emulator]") {
  AttnPost run(small_key(), attn_post_object(small_key()), {.delays = {{0, "O", 10}}});
  CHECK_THROWS_WITH(run.step(), Contains("a delay at stage 'O', which no kernel has") &&
                                    Contains("gate, mix, o, reduce, slice"));
  CHECK_THROWS_WITH(emulator::Emulator({.devices = 2, .delays = {{2, "o", 10}}}),
                    Contains("a delay on device 2, there are 2 devices"));
}

}  // namespace
}  // namespace baton::tests
