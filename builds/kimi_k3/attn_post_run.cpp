#include "builds/kimi_k3/attn_post_run.h"

#include "builds/kimi_k3/attn_post_check.h"

namespace baton::builds::kimi_k3 {
namespace {

/// The new prefix; a build with reset does not read one.
void carry_attn_post(const BuildKey& key, const RankMaps& outputs, RankTensors& next_inputs) {
  for (size_t rank = 0; rank < outputs.size() && !key.flag("reset"); ++rank) {
    next_inputs.ranks[rank]["prefix"] = outputs[rank].at("prefix");
  }
}

}  // namespace

void upload_attn_post(Collective& collective, const BuildKey&, const RankTensors& inputs,
                      int layer) {
  upload_tensors(collective, inputs);
  const Tensor& blocks = inputs.get(0, "blocks");
  collective.set_value("blk_sm", static_cast<uint64_t>(blocks.shape[1] * blocks.shape[2]));
  collective.set_value("blk_sr", static_cast<uint64_t>(blocks.shape[2]));
  collective.set_value("layer", static_cast<uint64_t>(layer));
}

KernelCheck attn_post_kernel_check() {
  return {.family = "attn_post",
          .ranks = kRanks,
          .random_inputs = random_attn_post_inputs,
          .require_inputs = require_attn_post_inputs,
          .upload = upload_attn_post,
          .check = check_attn_post,
          .carry = carry_attn_post};
}

}  // namespace baton::builds::kimi_k3
