// The build key of attn_post: gated core output -> the MoE's input row.
#pragma once

#include "builds/schema.h"

namespace baton::builds::kimi_k3 {

/// Fields: tokens, nblocks (integers), eps, out_eps (numbers), reset (flag).
Family attn_post_family();

}  // namespace baton::builds::kimi_k3
