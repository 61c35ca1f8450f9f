#include "builds/kimi_k3/attn_post_run.h"

#include <algorithm>

namespace baton::builds::kimi_k3 {
namespace {

void upload_tensors(Collective& collective, const RankTensors& inputs) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const TensorMap& own = inputs.ranks[static_cast<size_t>(rank)];
    for (const auto& [name, tensor] : own) collective.set_tensor(rank, name, tensor);
    for (const auto& [name, tensor] : inputs.common) {
      if (!own.contains(name)) collective.set_tensor(rank, name, tensor);
    }
  }
}

}  // namespace

bool StepResult::passed() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const CheckRow& row) { return row.comparison.passed; });
}

void upload_attn_post(Collective& collective, const RankTensors& inputs, int layer) {
  upload_tensors(collective, inputs);
  const Tensor& blocks = inputs.get(0, "blocks");
  collective.set_value("blk_sm", static_cast<uint64_t>(blocks.shape[1] * blocks.shape[2]));
  collective.set_value("blk_sr", static_cast<uint64_t>(blocks.shape[2]));
  collective.set_value("layer", static_cast<uint64_t>(layer));
}

StepResult run_attn_post_step(Collective& collective, const BuildKey& key,
                              const RankTensors& inputs, int layer) {
  upload_attn_post(collective, inputs, layer);
  collective.step();
  StepResult result;
  for (int rank = 0; rank < kRanks; ++rank) {
    result.outputs[static_cast<size_t>(rank)] = collective.outputs(rank);
    result.regions[static_cast<size_t>(rank)] = collective.regions(rank);
  }
  result.rows = check_attn_post(key, inputs, result.outputs, result.regions);
  return result;
}

}  // namespace baton::builds::kimi_k3
