// attn_post counted by stage, from the sizes that its specification gives.
#include <catch2/catch.hpp>
#include <map>

#include "tests/runtime/emulator/attn_post.h"

namespace baton::tests {
namespace {

using emulator::Counters;

constexpr uint64_t kWidth = 7168, kCore = 1536, kSlices = 56, kGroups = kWidth / 16;
constexpr uint64_t kOthers = kRanks - 1;

emulator::RunReport report_of(const BuildKey& key, const emulator::EmulatorOptions& options) {
  AttnPost run(key, attn_post_object(key), options);
  CHECK(run.step_is_right());
  return run.emulator().report();
}

TEST_CASE("attn_post's stages move what their specification says", "[emulator]") {
  const uint64_t tokens = 3, nblocks = 2;
  const BuildKey key = builds::complete_key("attn_post:tokens=3,nblocks=2", "gfx950");
  const emulator::RunReport report = report_of(key, {.threads = 2, .count_bank_conflicts = true});
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].kernel == "attn_post");
  CHECK(report.kernels[0].launches == kRanks);
  std::map<std::string, Counters> stages;
  for (const auto& stage : report.kernels[0].stages) stages[stage.stage] = stage.counters;

  // A pair of columns is one tagged pair of 8 bytes, for each of the 8 ranks.
  const uint64_t link = tokens * kWidth / 2 * 8;
  for (size_t from = 0; from < kRanks; ++from) {
    for (size_t to = 0; to < kRanks; ++to) {
      if (from != to) CHECK(report.stored_bytes[from][to] == link);
    }
  }
  CHECK(stages["o"].remote_bytes[Counters::kStore] == kRanks * kOthers * link);
  CHECK(stages["o"].bytes[Counters::kStore][2] == kRanks * kRanks * link);
  CHECK(report.counters.remote_bytes[Counters::kStore] == kRanks * kOthers * link);
  CHECK(report.counters.remote_bytes[Counters::kLoad] == 0);
  // Every row of w_o once, and the core rows once a workgroup of o.
  const uint64_t weights = kWidth * kCore * 2;
  CHECK(stages["o"].bytes[Counters::kLoad][0] >= kRanks * weights);
  CHECK(stages["o"].bytes[Counters::kLoad][0] <= kRanks * (weights + 200 * 16 * kCore * 2 * 2));
  // 16 x 16 x 32: at least as many as the product has.
  CHECK(stages["o"].mfmas >= kRanks * kGroups * (kCore / 32));
  CHECK(stages["o"].mfmas == report.counters.mfmas);
  // The reduce's last try reads all ranks' partials, at system scope.
  CHECK(stages["reduce"].bytes[Counters::kLoad][2] >= kRanks * kRanks * link);
  // Two sums a source, token and slice, each a pair; WGT: a pair a weight, and their sum.
  const uint64_t sources = nblocks + 1;
  CHECK(stages["slice"].bytes[Counters::kStore][1] == kRanks * kSlices * tokens * sources * 2 * 8);
  CHECK(stages["gate"].bytes[Counters::kStore][1] == kRanks * tokens * (sources + 1) * 8);

  uint64_t steps = 0, by_class = 0;
  for (const auto& [name, c] : stages) steps += c.steps;
  for (const auto& [name, count] : report.classes) by_class += count;
  CHECK(steps == report.counters.steps);
  CHECK(by_class == report.counters.steps);
  CHECK(report.counters.barriers > 0);
  CHECK(report.counters.lds_bytes > 0);
}

}  // namespace
}  // namespace baton::tests
