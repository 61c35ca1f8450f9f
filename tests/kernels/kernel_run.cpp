#include "tests/kernels/kernel_run.h"

namespace baton::tests {

EmulatedRanks::EmulatedRanks(const BuildKey& key, CodeObject object, const RunOptions& options)
    : object_(std::move(object)),
      emulator_({.chip = key.chip(),
                 .devices = builds::find_kernel_check(key).ranks,
                 .seed = options.schedule,
                 .threads = options.threads,
                 .delays = options.delays,
                 .check_uninit = options.check_uninit}) {
  std::vector<Device*> devices;
  for (int rank = 0; rank < builds::find_kernel_check(key).ranks; ++rank) {
    devices.push_back(&emulator_.device(rank));
  }
  collective_.emplace(devices, object_);
}

RunResult run_kernel(const BuildKey& key, const CodeObject& object, const RunOptions& options) {
  EmulatedRanks ranks(key, object, options);
  attend(ranks.emulator(), ranks.collective());
  RunResult result;
  for (int step = 0; step < options.steps; ++step) {
    const auto inputs = builds::find_kernel_check(key).random_inputs(
        key, options.input_seed + static_cast<uint64_t>(step));
    auto made = builds::run_step(ranks.collective(), key, inputs, /*layer=*/3);
    for (const std::string& region : builds::unseen_regions(ranks.collective(), made)) {
      result.failures.push_back(fmt::format("step {}: nobody kept {}", step, region));
    }
    for (const auto& row : builds::check_step(key, inputs, made)) {
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

builds::RankMaps outputs_of(Collective& collective) {
  builds::RankMaps outputs;
  for (const int rank : collective.ranks()) {
    outputs[static_cast<size_t>(rank)] = collective.outputs(rank);
  }
  return outputs;
}

std::vector<std::string> differences(const builds::RankMaps& actual,
                                     const builds::RankMaps& expected) {
  std::vector<std::string> differing;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    for (const auto& [name, tensor] : expected[rank]) {
      const auto found = actual[rank].find(name);
      if (found != actual[rank].end() && found->second.bytes == tensor.bytes) continue;
      differing.push_back(fmt::format("{} of rank {}", name, rank));
    }
  }
  return differing;
}

}  // namespace baton::tests
