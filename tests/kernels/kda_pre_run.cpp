#include "tests/kernels/kda_pre_run.h"

#include "builds/kimi_k3/kda_pre_run.h"

namespace baton::tests {

std::vector<std::string> failures_of(std::span<const builds::CheckRow> rows, int step) {
  std::vector<std::string> failures;
  for (const builds::CheckRow& row : rows) {
    const auto& c = row.comparison;
    if (c.passed) continue;
    failures.push_back(fmt::format("step {}: {} ({}): {} of {} differ, L2 {}", step, row.tensor,
                                   row.rule, c.differing, c.elements, c.relative_l2));
  }
  return failures;
}

std::vector<std::string> run_kda_pre(EmulatedRanks& rank, const BuildKey& key,
                                     builds::RankTensors inputs, int steps) {
  std::vector<std::string> failures;
  for (int step = 0; step < steps; ++step) {
    builds::kimi_k3::require_kda_pre_inputs(key, inputs);
    const auto result = builds::run_step(rank.collective(), key, inputs, /*layer=*/3);
    const auto rows = builds::check_step(key, inputs, result);
    for (std::string& line : failures_of(rows, step)) failures.push_back(std::move(line));
    builds::kimi_k3::carry_kda_pre(key, result.outputs, inputs);
  }
  return failures;
}

std::vector<std::string> run_kda_pre(const std::string& fields, const std::string& chip,
                                     const builds::kimi_k3::KdaPreOptions& options, int steps) {
  const BuildKey key = builds::complete_key("kda_pre:" + fields, chip);
  EmulatedRanks rank(key, builds::build(key).code_object, {.threads = 2});
  attend(rank.emulator(), rank.collective());
  return run_kda_pre(rank, key, builds::kimi_k3::random_kda_pre_inputs(key, 1, options), steps);
}

}  // namespace baton::tests
