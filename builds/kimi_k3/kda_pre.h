// kda_pre (K1): one KDA layer from the AttnRes seam to the gated core output, in a
// speculative-verify step. One launch a layer; a rank works alone.
//
// The caller's part, which the kernel does not check: num_acc is 1 .. qlen, also of requests
// that are padding; no slot above 0 belongs to two requests; slots lie in the pools, and slot 0
// is there; element offsets within a slot and within blocks stay below 2^30; rows of prefix,
// delta and blocks are aligned to 8 bytes, those of rstate to 16. A slot <= 0 is padding: it
// reads as zero and is not written. The window of a step is the conv state's entries num_acc - 1
// .. + 2, and a step leaves state_len - qlen older entries before its own, so steps follow each
// other causally when state_len = qlen + 2.
#pragma once

#include "runtime/key/build_key.h"

namespace baton::builds::kimi_k3 {

/// Runs the kernel under the open trace. `key` is complete and checked (kda_pre_family).
void trace_kda_pre(const BuildKey& key);

}  // namespace baton::builds::kimi_k3
