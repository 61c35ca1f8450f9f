// Inputs for attn_post, and the verdict on what a launch on 8 ranks left behind.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "builds/kimi_k3/reference/compare.h"
#include "runtime/key/build_key.h"
#include "runtime/object/handoff_protocol.h"
#include "runtime/tensors/tensor.h"

namespace baton::builds::kimi_k3 {

/// Tensors by argument name: `common` is the same on every rank, a rank's own wins over it.
struct RankTensors {
  TensorMap common;
  std::array<TensorMap, kRanks> ranks;

  /// Throws Error (user) that names the tensor when neither has it.
  const Tensor& get(int rank, const std::string& name) const;
};

/// Random inputs of realistic magnitudes; the same seed gives the same inputs.
RankTensors random_attn_post_inputs(const BuildKey& key, uint64_t seed);

/// Throws Error (user) that names the first tensor that is missing or of another shape or dtype.
void require_attn_post_inputs(const BuildKey& key, const RankTensors& inputs);

/// One line of the comparison table.
struct CheckRow {
  int rank;
  std::string tensor;
  std::string rule;
  reference::Comparison comparison;
};

/// Compares each stage with the reference fed with that stage's own dumped inputs, then the end
/// with the reference run from the inputs, then the ranks with each other. `outputs` holds prefix
/// and x_out, `regions` the dumped regions of each rank.
std::vector<CheckRow> check_attn_post(const BuildKey& key, const RankTensors& inputs,
                                      const std::array<TensorMap, kRanks>& outputs,
                                      const std::array<TensorMap, kRanks>& regions);

}  // namespace baton::builds::kimi_k3
