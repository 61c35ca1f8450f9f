// How kda_pre is launched, and its row among the kernel checks.
#pragma once

#include "builds/kernel_check.h"

namespace baton::builds::kimi_k3 {

/// Sets every argument but the runner's own; what the key leaves out (delta, x_dbg, proj_dbg) is
/// null. `layer` is below kLayers.
void upload_kda_pre(Collective& collective, const BuildKey& key, const RankTensors& inputs,
                    int layer);

/// The next step reads what this one wrote of prefix, blocks and both pools. Requests move one
/// place in the batch, with their slots, and accept one token more than before, or one after qlen.
void carry_kda_pre(const BuildKey& key, const RankMaps& outputs, RankTensors& next_inputs);

KernelCheck kda_pre_kernel_check();

}  // namespace baton::builds::kimi_k3
