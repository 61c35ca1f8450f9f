// kda_pre run on an emulated chip for some steps, and compared with its reference in each.
#pragma once

#include "builds/kimi_k3/kda_pre_inputs.h"
#include "tests/kernels/kernel_run.h"

namespace baton::tests {

/// "step 1: qk (rounded dot): 3 of 3072 differ, L2 0.02" for each comparison that failed.
std::vector<std::string> failures_of(std::span<const builds::CheckRow> rows, int step);

/// Runs `steps` on `inputs`, each on what the last one left: prefix, blocks, states; the requests'
/// slots move on (carry_kda_pre). Returns the failures of all of them.
std::vector<std::string> run_kda_pre(EmulatedRanks& rank, const BuildKey& key,
                                     builds::RankTensors inputs, int steps);

/// The same for a key's text, built for `chip`, and inputs with these options.
std::vector<std::string> run_kda_pre(const std::string& fields, const std::string& chip,
                                     const builds::kimi_k3::KdaPreOptions& options = {},
                                     int steps = 1);

}  // namespace baton::tests
