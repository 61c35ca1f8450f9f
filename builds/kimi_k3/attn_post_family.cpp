#include "builds/kimi_k3/attn_post_family.h"

namespace baton::builds::kimi_k3 {

Family attn_post_family() {
  constexpr float kRmsNormEps = 1e-5f;
  constexpr float kLargestEps = 1.0f;
  constexpr int kLargestOneShot = 8;  ///< tokens
  return {
      .name = "attn_post",
      .title = "o_proj, its all-reduce over 8 ranks and the MLP AttnRes seam, one launch",
      .fields = {{.name = "tokens",
                  .kind = IntegerField{.min = 1, .max = 64, .fallback = 8},
                  .meaning = "rows of the batch (S)"},
                 {.name = "nblocks",
                  .kind = IntegerField{.min = 1, .max = 8, .fallback = 8},
                  .meaning = "block rows the seam mixes, besides the prefix"},
                 {.name = "eps",
                  .kind = NumberField{.max = kLargestEps, .fallback = kRmsNormEps},
                  .meaning = "epsilon of the seam's RMS norm, in the gate"},
                 {.name = "out_eps",
                  .kind = NumberField{.max = kLargestEps, .fallback = kRmsNormEps},
                  .meaning = "epsilon of post_attention_layernorm, on x_out"},
                 {.name = "two_shot",
                  .kind = AutoFlagField{.rule =
                                            [](const BuildKey& key) {
                                              return key.integer("tokens") > kLargestOneShot;
                                            },
                                        .rule_text = "tokens > 8"},
                  .meaning = "the all-reduce scatters to a column's owner, which broadcasts"},
                 {.name = "sent",
                  .kind = SetField{{"ar"}},
                  .meaning = "the all-reduces that travel as sentinel words, not as tagged pairs"},
                 {.name = "reset",
                  .kind = FlagField{.fallback = false},
                  .meaning = "the prefix restarts at this layer's output and is written only"},
                 {.name = "timeline",
                  .kind = FlagField{.fallback = false},
                  .meaning = "every workgroup stamps the clock at each stage boundary"},
                 {.name = "diag",
                  .kind = FlagField{.fallback = false},
                  .meaning = "every wait ends after 10 s and leaves a record"}},
      .check = {},
  };
}

}  // namespace baton::builds::kimi_k3
