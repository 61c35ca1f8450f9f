#include "builds/kimi_k3/attn_post_family.h"

namespace baton::builds::kimi_k3 {

Family attn_post_family() {
  constexpr float kRmsNormEps = 1e-5f;
  constexpr float kLargestEps = 1.0f;
  return {
      .name = "attn_post",
      .title = "o_proj, its all-reduce over 8 ranks and the MLP AttnRes seam, one launch",
      .fields = {{.name = "tokens",
                  .kind = IntegerField{.min = 1, .max = 8, .fallback = 8},
                  .meaning =
                      "rows of the batch (S); the all-reduce is one-shot, with tagged hand-offs"},
                 {.name = "nblocks",
                  .kind = IntegerField{.min = 1, .max = 8, .fallback = 8},
                  .meaning = "block rows the seam mixes, besides the prefix"},
                 {.name = "eps",
                  .kind = NumberField{.max = kLargestEps, .fallback = kRmsNormEps},
                  .meaning = "epsilon of the seam's RMS norm, in the gate"},
                 {.name = "out_eps",
                  .kind = NumberField{.max = kLargestEps, .fallback = kRmsNormEps},
                  .meaning = "epsilon of post_attention_layernorm, on x_out"},
                 {.name = "reset",
                  .kind = FlagField{.fallback = false},
                  .meaning = "the prefix restarts at this layer's output and is written only"}},
      .check = {},
  };
}

}  // namespace baton::builds::kimi_k3
