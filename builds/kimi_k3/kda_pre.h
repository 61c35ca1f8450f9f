// kda_pre (K1): one KDA layer from the AttnRes seam to the gated core output, in a
// speculative-verify step. One launch a layer; a rank works alone.
#pragma once

#include "runtime/key/build_key.h"

namespace baton::builds::kimi_k3 {

/// Runs the kernel under the open trace. `key` is complete and checked (kda_pre_family).
void trace_kda_pre(const BuildKey& key);

}  // namespace baton::builds::kimi_k3
