// A KDA layer that decodes one accepted token at a time and never speculates: no slots, no
// requests, no verify. In double between the rounding points, by the textbook's formulas; it shares
// nothing with the batched reference, which has to agree with it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "builds/kimi_k3/reference/bf16.h"

namespace baton::reference {

struct KdaWeights {
  std::span<const Bf16> w_in;      ///< [6288, 7168]
  std::span<const Bf16> w_fb;      ///< [1536, 128]
  std::span<const float> conv_w;   ///< [4608, 4]
  std::span<const float> a_log;    ///< [12]
  std::span<const float> dt_bias;  ///< [1536]
  std::span<const Bf16> on_w;      ///< [128]
  double onorm_eps, lower_bound;
};

/// All that a sequence's past means to the next token. Empty: it has no past.
struct KdaSequence {
  /// Of each channel, the oldest first.
  std::vector<std::array<Bf16, 3>> inputs = std::vector<std::array<Bf16, 3>>(4608);
  std::vector<double> state = std::vector<double>(size_t{12} * 128 * 128);  ///< [head][v][k]
};

/// The gated core output [1536] of the token whose layer input is x [7168]; `sequence` takes it up.
std::vector<Bf16> decode_token(const KdaWeights& weights, std::span<const Bf16> x,
                               KdaSequence& sequence);

}  // namespace baton::reference
