#include "builds/kimi_k3/reference/attn_res.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace baton::reference {

namespace {

constexpr float kPerHiddenColumn = 1.0f / 7168.0f;
constexpr int kSlicesOfGroup = 7;

size_t at(int64_t index) { return static_cast<size_t>(index); }

/// The value of source `src` of token `t` at hidden column `c`: a block row, or the prefix as the
/// last.
float source_value(const AttnResShape& shape, std::span<const Bf16> prefix, const Blocks& blocks,
                   int t, int src, int c) {
  if (src == shape.nblocks) return to_float(prefix[at(int64_t{t} * kHiddenColumns + c)]);
  return to_float(blocks.data[at(t * blocks.token_stride + src * blocks.block_stride + c)]);
}

/// 56 slices: 8 groups of 7, each group in order, then the groups in order, in fp32.
template <class ValueOfSlice>
float sum_of_slices(ValueOfSlice value) {
  float total = 0;
  for (int first = 0; first < kSlices; first += kSlicesOfGroup) {
    float group = value(first);
    for (int i = 1; i < kSlicesOfGroup; ++i) group += value(first + i);
    total = first == 0 ? group : total + group;
  }
  return total;
}

float rsq(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }

}  // namespace

std::vector<Bf16> next_prefix(std::span<const Bf16> prefix, std::span<const Bf16> delta) {
  if (prefix.empty()) return {delta.begin(), delta.end()};
  std::vector<Bf16> result(prefix.begin(), prefix.end());
  for (size_t i = 0; i < delta.size(); ++i) {
    result[i] = to_bf16(to_float(prefix[i]) + to_float(delta[i]));
  }
  return result;
}

std::vector<float> part(const AttnResShape& shape, std::span<const Bf16> prefix,
                        const Blocks& blocks, std::span<const Bf16> nw, std::span<const Bf16> qk) {
  std::vector<float> result;
  result.reserve(at(int64_t{kSlices} * shape.tokens * shape.sources() * 2));
  for (int slice = 0; slice < kSlices; ++slice) {
    for (int t = 0; t < shape.tokens; ++t) {
      for (int src = 0; src < shape.sources(); ++src) {
        double sq = 0, dt = 0;
        for (int c = slice * kSliceColumns; c < (slice + 1) * kSliceColumns; ++c) {
          const double v = source_value(shape, prefix, blocks, t, src, c);
          sq += v * v;
          dt += v * (to_float(nw[at(c)]) * to_float(qk[at(c)]));
        }
        result.push_back(static_cast<float>(sq));
        result.push_back(static_cast<float>(dt));
      }
    }
  }
  return result;
}

std::vector<float> gate(const AttnResShape& shape, std::span<const float> part) {
  const int ns = shape.sources();
  std::vector<float> result(at(int64_t{shape.tokens} * (ns + 1)));
  for (int t = 0; t < shape.tokens; ++t) {
    std::vector<float> logits;
    for (int src = 0; src < ns; ++src) {
      const auto value = [&](int slice, int which) {
        return part[at(((int64_t{slice} * shape.tokens + t) * ns + src) * 2 + which)];
      };
      const float sq = sum_of_slices([&](int slice) { return value(slice, 0); });
      const float dt = sum_of_slices([&](int slice) { return value(slice, 1); });
      const float rstd = rsq(sq * kPerHiddenColumn + shape.eps);
      logits.push_back(dt * rstd * std::numbers::log2e_v<float>);
    }
    // fmaxf ignores a NaN, so a NaN source reaches the sum and makes the row NaN.
    float largest = -std::numeric_limits<float>::infinity();
    for (float logit : logits) largest = std::fmax(largest, logit);
    float sum = 0;
    for (int src = 0; src < ns; ++src) {
      const float weight = std::exp2(logits[at(src)] - largest);
      result[at(int64_t{t} * (ns + 1) + src)] = weight;
      sum += weight;
    }
    result[at(int64_t{t} * (ns + 1) + ns)] = sum;
  }
  return result;
}

std::vector<float> mix(const AttnResShape& shape, std::span<const float> wgt,
                       std::span<const Bf16> prefix, const Blocks& blocks) {
  const int ns = shape.sources();
  std::vector<float> result(at(int64_t{shape.tokens} * kHiddenColumns));
  for (int t = 0; t < shape.tokens; ++t) {
    const std::span<const float> weights = wgt.subspan(at(int64_t{t} * (ns + 1)), at(ns + 1));
    for (int c = 0; c < kHiddenColumns; ++c) {
      double sum = 0;
      for (int src = 0; src < ns; ++src) {
        sum +=
            static_cast<double>(weights[at(src)]) * source_value(shape, prefix, blocks, t, src, c);
      }
      result[at(int64_t{t} * kHiddenColumns + c)] = static_cast<float>(sum) / weights[at(ns)];
    }
  }
  return result;
}

std::vector<float> mean_squares(const AttnResShape& shape, std::span<const float> mixed) {
  std::vector<float> result;
  for (int slice = 0; slice < kSlices; ++slice) {
    for (int t = 0; t < shape.tokens; ++t) {
      double sum = 0;
      for (int c = slice * kSliceColumns; c < (slice + 1) * kSliceColumns; ++c) {
        const double v = mixed[at(int64_t{t} * kHiddenColumns + c)];
        sum += v * v;
      }
      result.push_back(static_cast<float>(sum));
    }
  }
  return result;
}

std::vector<Bf16> normed(const AttnResShape& shape, std::span<const float> mixed,
                         std::span<const float> msq, std::span<const Bf16> in_nw) {
  std::vector<Bf16> result(mixed.size());
  for (int t = 0; t < shape.tokens; ++t) {
    const float total =
        sum_of_slices([&](int slice) { return msq[at(int64_t{slice} * shape.tokens + t)]; });
    const float r = rsq(total * kPerHiddenColumn + shape.out_eps);
    for (int c = 0; c < kHiddenColumns; ++c) {
      const size_t i = at(int64_t{t} * kHiddenColumns + c);
      result[i] = to_bf16(mixed[i] * r * to_float(in_nw[at(c)]));
    }
  }
  return result;
}

}  // namespace baton::reference
