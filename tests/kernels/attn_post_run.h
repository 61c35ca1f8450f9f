// attn_post run on 8 emulated ranks and compared with the reference.
#pragma once

#include <optional>
#include <string>

#include "builds/builder.h"
#include "builds/families.h"
#include "builds/kimi_k3/attn_post_run.h"
#include "runtime/emulator/emulator.h"

namespace baton::tests {

struct RunOptions {
  int threads = 1;
  std::optional<uint64_t> schedule = {};  ///< seed of the interleaving
  int steps = 1;
  uint64_t input_seed = 1;
  bool check_uninit = false;
};

struct RunResult {
  std::array<TensorMap, kRanks> outputs;  ///< of the last step
  std::vector<std::string> failures;      ///< of every step, one line each
  size_t comparisons = 0;
};

/// Every step works on inputs of its own, so that a stale word of an earlier step shows.
inline RunResult run_attn_post(const BuildKey& key, const CodeObject& object,
                               const RunOptions& options) {
  emulator::Emulator emulator({.chip = key.chip(),
                               .devices = kRanks,
                               .seed = options.schedule,
                               .threads = options.threads,
                               .check_uninit = options.check_uninit});
  std::vector<Device*> devices;
  for (int rank = 0; rank < kRanks; ++rank) devices.push_back(&emulator.device(rank));
  Collective collective(devices, object);
  emulator::Names names;
  names.address = [&](uint64_t address) { return collective.describe(address); };
  emulator.set_names(names);
  RunResult result;
  for (int step = 0; step < options.steps; ++step) {
    const auto inputs = builds::kimi_k3::random_attn_post_inputs(
        key, options.input_seed + static_cast<uint64_t>(step));
    auto made = builds::kimi_k3::run_attn_post_step(collective, key, inputs, /*layer=*/3);
    for (const auto& row : made.rows) {
      ++result.comparisons;
      if (row.comparison.passed) continue;
      result.failures.push_back(fmt::format(
          "step {}, rank {}: {} ({}): {} of {} differ, L2 {}", step, row.rank, row.tensor, row.rule,
          row.comparison.differing, row.comparison.elements, row.comparison.relative_l2));
    }
    result.outputs = std::move(made.outputs);
  }
  return result;
}

}  // namespace baton::tests
