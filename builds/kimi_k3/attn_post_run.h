// How attn_post is launched on 8 ranks, and its row among the kernel checks.
#pragma once

#include "builds/kernel_check.h"

namespace baton::builds::kimi_k3 {

/// Sets every argument but the runner's own. `layer` is below kLayers.
void upload_attn_post(Collective& collective, const BuildKey& key, const RankTensors& inputs,
                      int layer);

KernelCheck attn_post_kernel_check();

}  // namespace baton::builds::kimi_k3
