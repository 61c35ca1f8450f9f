// attn_post (K2a): gated core output -> the MoE's input row. One launch a layer and rank: o_proj,
// its tensor-parallel all-reduce inside the kernel, and the MLP's AttnRes seam.
#pragma once

#include "runtime/key/build_key.h"

namespace baton::builds::kimi_k3 {

/// Runs the kernel under the open trace. `key` is complete and checked (attn_post_family).
void trace_attn_post(const BuildKey& key);

}  // namespace baton::builds::kimi_k3
