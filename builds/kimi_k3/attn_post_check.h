// Inputs for attn_post, and the verdict on what a launch on 8 ranks left behind.
#pragma once

#include <vector>

#include "builds/kernel_check.h"

namespace baton::builds::kimi_k3 {

/// Random inputs of realistic magnitudes; the same seed gives the same inputs.
RankTensors random_attn_post_inputs(const BuildKey& key, uint64_t seed);

/// Throws Error (user) that names the first tensor that is missing or of another shape or dtype.
void require_attn_post_inputs(const BuildKey& key, const RankTensors& inputs);

/// Compares each stage with the reference fed with that stage's own dumped inputs, then the end
/// with the reference run from the inputs, then the ranks with each other. `outputs` holds prefix
/// and x_out, `regions` the dumped regions of each rank. Where it has no `ar`, what can only be
/// told from the partials in it is not compared: they and the sum.
std::vector<CheckRow> check_attn_post(const BuildKey& key, const RankTensors& inputs,
                                      const RankMaps& outputs, const RankMaps& regions);

}  // namespace baton::builds::kimi_k3
