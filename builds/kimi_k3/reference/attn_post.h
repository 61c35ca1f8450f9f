// attn_post in plain C++: every rounding point of the specification, dots accumulated in double. It
// shares no code with the kernel. Each function is one stage, fed with the stage's own inputs.
#pragma once

#include <span>
#include <vector>

#include "builds/kimi_k3/reference/bf16.h"

namespace baton::reference {

struct AttnPostShape {
  int tokens;  ///< S
  int nblocks;
  float eps = 0, out_eps = 0;
  bool reset = false;

  int sources() const { return nblocks + 1; }  ///< NS
};

inline constexpr int kHiddenColumns = 7168, kCoreColumns = 1536, kTpRanks = 8, kSlices = 56,
                     kSliceColumns = 128;

/// Block row (t, b) starts at element t token_stride + b block_stride of `data`.
struct Blocks {
  std::span<const Bf16> data;
  int64_t token_stride, block_stride;
};

/// Stage o: bf16 partials [S, 7168] of core [S, 1536] and w_o [7168, 1536].
std::vector<Bf16> partials(const AttnPostShape& shape, std::span<const Bf16> core,
                           std::span<const Bf16> w_o);

/// Stage reduce: delta [S, 7168], the 8 ranks' partials [8, S, 7168] summed in rank order in fp32.
std::vector<Bf16> reduce(const AttnPostShape& shape, std::span<const Bf16> ar);

/// Stage slice: the new prefix [S, 7168].
std::vector<Bf16> next_prefix(const AttnPostShape& shape, std::span<const Bf16> prefix,
                              std::span<const Bf16> delta);

/// Stage slice: PART [56, S, NS, 2] of sq and dt, from the new prefix.
std::vector<float> part(const AttnPostShape& shape, std::span<const Bf16> prefix,
                        const Blocks& blocks, std::span<const Bf16> nw, std::span<const Bf16> qk);

/// Stage gate: WGT [S, NS + 1], the weights and their sum, from PART.
std::vector<float> gate(const AttnPostShape& shape, std::span<const float> part);

/// Stage mix: the weighted means in fp32 [S, 7168], from WGT.
std::vector<float> mix(const AttnPostShape& shape, std::span<const float> wgt,
                       std::span<const Bf16> prefix, const Blocks& blocks);

/// Stage mix: MSQ [56, S], the slices' sums of squares of the means.
std::vector<float> mean_squares(const AttnPostShape& shape, std::span<const float> mixed);

/// Stage mix: x [S, 7168] of the means and MSQ.
std::vector<Bf16> normed(const AttnPostShape& shape, std::span<const float> mixed,
                         std::span<const float> msq, std::span<const Bf16> in_nw);

}  // namespace baton::reference
