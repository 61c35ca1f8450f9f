// The AttnRes seam in plain C++: what attn_post and kda_pre share. Every rounding point of the
// specification, sums whose order is free accumulated in double; no code of the kernels. Each
// function is one stage, fed with the stage's own inputs.
#pragma once

#include <span>
#include <vector>

#include "builds/kimi_k3/reference/bf16.h"

namespace baton::reference {

struct AttnResShape {
  int tokens;  ///< S
  int nblocks;
  float eps = 0, out_eps = 0;

  int sources() const { return nblocks + 1; }  ///< NS
};

inline constexpr int kHiddenColumns = 7168, kSlices = 56, kSliceColumns = 128;

/// Block row (t, b) starts at element t token_stride + b block_stride of `data`.
struct Blocks {
  std::span<const Bf16> data;
  int64_t token_stride, block_stride;
};

/// Stage slice: the new prefix [S, 7168]. No `prefix`: it restarts at delta. No `delta`: it stays.
std::vector<Bf16> next_prefix(std::span<const Bf16> prefix, std::span<const Bf16> delta);

/// Stage slice: PART [56, S, NS, 2] of sq and dt, from the new prefix.
std::vector<float> part(const AttnResShape& shape, std::span<const Bf16> prefix,
                        const Blocks& blocks, std::span<const Bf16> nw, std::span<const Bf16> qk);

/// Stage gate: WGT [S, NS + 1], the weights and their sum, from PART.
std::vector<float> gate(const AttnResShape& shape, std::span<const float> part);

/// Stage mix: the weighted means in fp32 [S, 7168], from WGT.
std::vector<float> mix(const AttnResShape& shape, std::span<const float> wgt,
                       std::span<const Bf16> prefix, const Blocks& blocks);

/// Stage mix: MSQ [56, S], the slices' sums of squares of the means.
std::vector<float> mean_squares(const AttnResShape& shape, std::span<const float> mixed);

/// Stage mix: x [S, 7168] of the means and MSQ.
std::vector<Bf16> normed(const AttnResShape& shape, std::span<const float> mixed,
                         std::span<const float> msq, std::span<const Bf16> in_nw);

}  // namespace baton::reference
