// Steps of attn_post on 8 ranks: inputs in, results and their verdict out.
#pragma once

#include "builds/kimi_k3/attn_post_check.h"
#include "runtime/collective.h"

namespace baton::builds::kimi_k3 {

struct StepResult {
  std::array<TensorMap, kRanks> outputs, regions;
  std::vector<CheckRow> rows;

  bool passed() const;
};

/// Sets every argument but the runner's own. `layer` is below kLayers.
void upload_attn_post(Collective& collective, const RankTensors& inputs, int layer);

/// Uploads `inputs` to every rank, runs one step and checks it.
StepResult run_attn_post_step(Collective& collective, const BuildKey& key,
                              const RankTensors& inputs, int layer);

}  // namespace baton::builds::kimi_k3
