#include "tests/builds/kimi_k3/fake_kda_launch.h"

#include <algorithm>

#include "builds/kimi_k3/kda_pre_inputs.h"

namespace baton::tests {

using namespace reference;
using builds::tensor_of;

FakeKdaLaunch::FakeKdaLaunch(const BuildKey& launch_key, const builds::RankTensors& tensors)
    : key(&launch_key),
      inputs(&tensors),
      seam_shape{static_cast<int>(key->integer("tokens")),
                 static_cast<int>(key->integer("nblocks")), key->number("eps"),
                 key->number("out_eps")},
      shape{seam_shape.tokens, static_cast<int>(key->integer("qlen")),
            static_cast<int>(key->integer("state_len")), key->number("onorm_eps"),
            key->number("lower_bound")},
      table{input<int32_t>("st_idx"), inputs->get(0, "st_idx").shape[1],
            input<int32_t>("num_acc")} {
  run_from(seam);
}

Blocks FakeKdaLaunch::block_rows() const {
  const Tensor& tensor = inputs->get(0, "blocks");
  return {input<Bf16>("blocks"), tensor.shape[1] * tensor.shape[2], tensor.shape[2]};
}

template <class T>
ConvPool<T> FakeKdaLaunch::conv_pool_of(std::span<T> data) const {
  const auto strides = builds::kimi_k3::conv_strides(inputs->get(0, "conv_st"));
  return {data, strides.slot, strides.channel, strides.entry};
}
template ConvPool<Bf16> FakeKdaLaunch::conv_pool_of(std::span<Bf16>) const;
template ConvPool<const Bf16> FakeKdaLaunch::conv_pool_of(std::span<const Bf16>) const;

StatePool FakeKdaLaunch::state_pool() { return {states, inputs->get(0, "rstate").shape[1]}; }

void FakeKdaLaunch::run_from(Stage first) {
  if (first <= seam) {
    prefix = next_prefix(input<Bf16>("prefix"),
                         key->flag("delta") ? input<Bf16>("delta") : std::span<const Bf16>());
    blocks.assign(block_rows().data.begin(), block_rows().data.end());
    for (int t = 0; t < shape.tokens && key->integer("write_idx") >= 0; ++t) {
      std::copy_n(prefix.begin() + int64_t{t} * kHiddenColumns, kHiddenColumns,
                  blocks.begin() + t * block_rows().token_stride +
                      key->integer("write_idx") * kHiddenColumns);
    }
    part = reference::part(seam_shape, prefix, block_rows(), input<Bf16>("ares_nw"),
                           input<Bf16>("ares_qk"));
  }
  if (first <= weights) wgt = gate(seam_shape, part);
  if (first <= mix) {
    mixed = reference::mix(seam_shape, wgt, prefix, block_rows());
    msq = mean_squares(seam_shape, mixed);
    x = normed(seam_shape, mixed, msq, input<Bf16>("in_nw"));
  }
  if (first <= project) proj = reference::project(shape.tokens, x, input<Bf16>("w_in"));
  if (first <= conv) {
    const auto before = input<Bf16>("conv_st");
    conv_out =
        convolve(shape, proj, input<float>("conv_w"), table, conv_pool_of<const Bf16>(before));
    conv_pool.assign(before.begin(), before.end());
    update_conv_pool(shape, proj, table, conv_pool_of(std::span(conv_pool)));
  }
  if (first <= gates) {
    qk = normalised(shape.tokens, conv_out);
    beta = betas(shape.tokens, proj);
    decay =
        decays(shape, proj, input<Bf16>("w_fb"), input<float>("a_log"), input<float>("dt_bias"));
  }
  if (first <= recur) {
    const auto before = input<float>("rstate");
    states.assign(before.begin(), before.end());
    o = reference::recur(shape, {qk, conv_out, beta, decay}, table, state_pool());
    onrm = chunk_squares(shape, o);
  }
  if (first <= norm) core = gated_norm(shape, o, onrm, proj, input<Bf16>("on_w"));
}

builds::RankMaps FakeKdaLaunch::outputs() const {
  builds::RankMaps all;
  all[0] = {{"prefix", tensor_of("bf16", inputs->get(0, "prefix").shape, prefix)},
            {"blocks", tensor_of("bf16", inputs->get(0, "blocks").shape, blocks)},
            {"conv_st", tensor_of("bf16", inputs->get(0, "conv_st").shape, conv_pool)},
            {"rstate", tensor_of("f32", inputs->get(0, "rstate").shape, states)},
            {"core_out", tensor_of("bf16", {shape.tokens, kPartColumns}, core)}};
  return all;
}

builds::RankMaps FakeKdaLaunch::regions() const {
  const int64_t tokens = shape.tokens, sources = seam_shape.sources();
  std::vector<float> wide(proj.size());
  for (size_t i = 0; i < proj.size(); ++i) wide[i] = to_float(proj[i]);
  std::vector<float> heads;  // [R, 12, L, 2, 128]
  for (int request = 0; request < shape.requests(); ++request) {
    for (int head = 0; head < kHeads; ++head) {
      for (int row = 0; row < 2 * shape.qlen; ++row) {
        const size_t first = static_cast<size_t>((request * shape.qlen + row / 2) * kConvChannels +
                                                 row % 2 * kPartColumns + head * kHeadDim);
        for (size_t i = 0; i < kHeadDim; ++i) heads.push_back(to_float(conv_out[first + i]));
      }
    }
  }
  builds::RankMaps all;
  all[0] = {{"part", tensor_of("f32", {kSlices, tokens, sources, 2}, part)},
            {"wgt", tensor_of("f32", {tokens, sources + 1}, wgt)},
            {"msq", tensor_of("f32", {kSlices, tokens}, msq)},
            {"xrdy", tensor_of("i32", {kSlices}, std::vector<int32_t>(kSlices, 1))},
            {"x", tensor_of("bf16", {tokens, kHiddenColumns}, x)},
            {"proj", tensor_of("f32", {tokens, kProjColumns}, wide)},
            {"qk", tensor_of("f32", {shape.requests(), kHeads, shape.qlen, 2, kHeadDim}, heads)},
            {"onrm", tensor_of("f32", {shape.requests(), kHeads, shape.qlen, kChunks}, onrm)}};
  return all;
}

}  // namespace baton::tests
