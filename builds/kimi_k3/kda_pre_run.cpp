#include "builds/kimi_k3/kda_pre_run.h"

#include <algorithm>

#include "builds/kimi_k3/kda_pre_check.h"
#include "builds/kimi_k3/kda_pre_inputs.h"
#include "builds/random_tensors.h"

namespace baton::builds::kimi_k3 {

void upload_kda_pre(Collective& collective, const BuildKey& key, const RankTensors& inputs,
                    int layer) {
  upload_tensors(collective, inputs);
  if (!key.flag("delta")) collective.set_null("delta");
  for (const char* name : {"x_dbg", "proj_dbg"}) {
    if (!key.flag("debug")) collective.set_null(name);
  }
  const auto set = [&](const char* name, int64_t value) {
    collective.set_value(name, static_cast<uint64_t>(value));
  };
  const Tensor& blocks = inputs.get(0, "blocks");
  set("blk_sm", blocks.shape[1] * blocks.shape[2]);
  set("blk_sr", blocks.shape[2]);
  const ConvStrides conv = conv_strides(inputs.get(0, "conv_st"));
  set("cs_seq", conv.slot);
  set("cs_dim", conv.channel);
  set("cs_tok", conv.entry);
  set("rs_seq", state_stride(inputs.get(0, "rstate")));
  set("st_stride", inputs.get(0, "st_idx").shape[1]);
  set("layer", layer);
}

void carry_kda_pre(const BuildKey& key, const RankMaps& outputs, RankTensors& next_inputs) {
  TensorMap& own = next_inputs.ranks[0];
  for (const char* name : {"prefix", "blocks", "conv_st", "rstate"}) {
    if (const auto left = outputs[0].find(name); left != outputs[0].end()) own[name] = left->second;
  }
  Tensor table = next_inputs.get(0, "st_idx");
  const auto row = table.bytes.size() / static_cast<size_t>(table.shape[0]);
  std::ranges::rotate(table.bytes, table.bytes.begin() + static_cast<std::ptrdiff_t>(row));
  own["st_idx"] = std::move(table);
  const auto before = values_of<int32_t>(next_inputs.get(0, "num_acc"));
  std::vector<int32_t> accepted(before.begin(), before.end());
  for (int32_t& count : accepted) {
    count = count % static_cast<int32_t>(key.integer("qlen")) + 1;
  }
  own["num_acc"] = tensor_of("i32", {static_cast<int64_t>(accepted.size())}, accepted);
}

KernelCheck kda_pre_kernel_check() {
  return {.family = "kda_pre",
          .ranks = 1,
          .random_inputs = random_kda_pre_inputs,
          .require_inputs = require_kda_pre_inputs,
          .upload = upload_kda_pre,
          .check = check_kda_pre,
          .carry = carry_kda_pre};
}

}  // namespace baton::builds::kimi_k3
