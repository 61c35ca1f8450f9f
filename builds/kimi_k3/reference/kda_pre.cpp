#include "builds/kimi_k3/reference/kda_pre.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "builds/kimi_k3/reference/attn_res.h"

namespace baton::reference {

namespace {

constexpr float kPerHeadColumn = 1.0f / 128.0f;
constexpr float kL2Eps = 1e-6f;

size_t at(int64_t index) { return static_cast<size_t>(index); }

float rsq(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }

float sigmoid(float z) { return 1.0f / (1.0f + std::exp2(-z * std::numbers::log2e_v<float>)); }

/// The order of an xor butterfly over `values`, whose number is a power of two.
template <size_t kCount>
float butterfly(std::array<float, kCount> values) {
  for (size_t width = kCount / 2; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) values[i] += values[i + width];
  }
  return values[0];
}

/// 4 columns in order on each of 32 lanes, then butterfly 16 .. 1.
float dot_of_row(std::span<const float> a, std::span<const float> b) {
  std::array<float, 32> lanes;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    float sum = a[4 * lane] * b[4 * lane];
    for (size_t i = 4 * lane + 1; i < 4 * lane + 4; ++i) sum += a[i] * b[i];
    lanes[lane] = sum;
  }
  return butterfly(lanes);
}

std::span<const float> row_of(std::span<const float> all, int64_t first) {
  return all.subspan(at(first), kHeadDim);
}

/// One token of one head: `state` advances, `o` gets its 128 values.
void advance(std::span<float> state, std::span<const float> q, std::span<const float> k,
             std::span<const float> decay, float beta, std::span<const Bf16> v, std::span<Bf16> o) {
  for (size_t row = 0; row < kHeadDim; ++row) {
    const std::span<float> s = state.subspan(row * kHeadDim, kHeadDim);
    for (size_t i = 0; i < kHeadDim; ++i) s[i] *= decay[i];
    const float u = (to_float(v[row]) - dot_of_row(s, k)) * beta;
    for (size_t i = 0; i < kHeadDim; ++i) s[i] += u * k[i];
    o[row] = to_bf16(dot_of_row(s, q));
  }
}

}  // namespace

std::vector<Bf16> project(int tokens, std::span<const Bf16> x, std::span<const Bf16> w_in) {
  // Eight tokens' sums side by side: one alone would wait for itself.
  constexpr size_t kTile = 8;
  const size_t s = at(tokens);
  std::vector<Bf16> result(s * kProjColumns);
  for (size_t first = 0; first < s; first += kTile) {
    const size_t count = std::min(kTile, s - first);
    std::vector<std::array<double, kTile>> wide(kHiddenColumns);
    for (size_t k = 0; k < kHiddenColumns; ++k) {
      for (size_t t = 0; t < count; ++t) wide[k][t] = to_float(x[(first + t) * kHiddenColumns + k]);
    }
    for (size_t column = 0; column < kProjColumns; ++column) {
      std::array<double, kTile> sums{};
      for (size_t k = 0; k < kHiddenColumns; ++k) {
        const double w = to_float(w_in[column * kHiddenColumns + k]);
        for (size_t t = 0; t < kTile; ++t) sums[t] += w * wide[k][t];
      }
      for (size_t t = 0; t < count; ++t) {
        result[(first + t) * kProjColumns + column] = to_bf16(sums[t]);
      }
    }
  }
  return result;
}

std::vector<Bf16> convolve(const KdaShape& shape, std::span<const Bf16> proj,
                           std::span<const float> conv_w, const SlotTable& table,
                           const ConvPool<const Bf16>& pool) {
  std::vector<Bf16> result(at(int64_t{shape.tokens} * kConvChannels));
  std::vector<float> sequence(at(kTaps - 1 + shape.qlen));
  for (int request = 0; request < shape.requests(); ++request) {
    const int32_t slot = table.conv_slot(request);
    const int acc = table.last_accepted(request);
    for (int channel = 0; channel < kConvChannels; ++channel) {
      for (int i = 0; i < kTaps - 1; ++i) {
        sequence[at(i)] = slot > 0 ? to_float(pool.at(slot, channel, acc + i)) : 0.0f;
      }
      for (int j = 0; j < shape.qlen; ++j) {
        const int64_t row = int64_t{request} * shape.qlen + j;
        sequence[at(kTaps - 1 + j)] = to_float(proj[at(row * kProjColumns + channel)]);
        float sum = conv_w[at(int64_t{channel} * kTaps)] * sequence[at(j)];
        for (int tap = 1; tap < kTaps; ++tap) {
          sum += conv_w[at(int64_t{channel} * kTaps + tap)] * sequence[at(j + tap)];
        }
        result[at(row * kConvChannels + channel)] = to_bf16(sum * sigmoid(sum));
      }
    }
  }
  return result;
}

void update_conv_pool(const KdaShape& shape, std::span<const Bf16> proj, const SlotTable& table,
                      const ConvPool<Bf16>& pool) {
  const int kept = shape.state_len - shape.qlen;
  for (int request = 0; request < shape.requests(); ++request) {
    const int32_t slot = table.conv_slot(request);
    if (slot <= 0) continue;
    const int acc = table.last_accepted(request);
    for (int channel = 0; channel < kConvChannels; ++channel) {
      // Upwards: an entry is read before it is written.
      for (int e = 0; e < kept; ++e) {
        pool.at(slot, channel, e) = pool.at(slot, channel, acc + 1 + e);
      }
      for (int j = 0; j < shape.qlen; ++j) {
        const int64_t row = int64_t{request} * shape.qlen + j;
        pool.at(slot, channel, kept + j) = proj[at(row * kProjColumns + channel)];
      }
    }
  }
}

std::vector<float> betas(int tokens, std::span<const Bf16> proj) {
  std::vector<float> result;
  for (int t = 0; t < tokens; ++t) {
    for (int head = 0; head < kHeads; ++head) {
      result.push_back(sigmoid(to_float(proj[at(int64_t{t} * kProjColumns + kBetaColumn + head)])));
    }
  }
  return result;
}

std::vector<float> decays(const KdaShape& shape, std::span<const Bf16> proj,
                          std::span<const Bf16> w_fb, std::span<const float> a_log,
                          std::span<const float> dt_bias) {
  constexpr float kLog2e = std::numbers::log2e_v<float>;
  std::vector<float> result(at(int64_t{shape.tokens} * kPartColumns));
  for (int t = 0; t < shape.tokens; ++t) {
    const std::span<const Bf16> f_a =
        proj.subspan(at(int64_t{t} * kProjColumns + kFaColumn), kHeadDim);
    for (int row = 0; row < kPartColumns; ++row) {
      double dot = 0;
      for (size_t i = 0; i < kHeadDim; ++i) {
        dot += static_cast<double>(to_float(w_fb[at(row) * kHeadDim + i])) * to_float(f_a[i]);
      }
      const float g1 = to_float(to_bf16(dot)) + dt_bias[at(row)];
      const float rate = std::exp2(a_log[at(row / kHeadDim)] * kLog2e);
      const float gate = shape.lower_bound * sigmoid(rate * g1);
      result[at(int64_t{t} * kPartColumns + row)] = std::exp2(gate * kLog2e);
    }
  }
  return result;
}

std::vector<float> normalised(int tokens, std::span<const Bf16> conv) {
  const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(kHeadDim)));
  std::vector<float> result;
  result.reserve(at(int64_t{tokens} * 2 * kPartColumns));
  for (int t = 0; t < tokens; ++t) {
    for (int row = 0; row < 2 * kHeads; ++row) {
      const std::span<const Bf16> x =
          conv.subspan(at(int64_t{t} * kConvChannels + row * kHeadDim), kHeadDim);
      std::array<float, kHeadDim / 2> squares;
      for (size_t lane = 0; lane < squares.size(); ++lane) {
        const float low = to_float(x[lane]), high = to_float(x[squares.size() + lane]);
        squares[lane] = low * low + high * high;
      }
      const float r = rsq(butterfly(squares) + kL2Eps);
      for (Bf16 value : x) {
        result.push_back(row < kHeads ? to_float(value) * r * scale : to_float(value) * r);
      }
    }
  }
  return result;
}

std::vector<Bf16> recur(const KdaShape& shape, const RecurrenceInputs& inputs,
                        const SlotTable& table, const StatePool& pool) {
  std::vector<Bf16> o(at(int64_t{shape.tokens} * kPartColumns));
  for (int request = 0; request < shape.requests(); ++request) {
    const int32_t first_slot = table.first_slot(request);
    if (first_slot <= 0) continue;  // o stays 0, and no state is stored
    const std::span<float> first = pool.slot(first_slot);
    std::vector<float> state(first.begin(), first.end());
    for (int j = 0; j < shape.qlen; ++j) {
      const int64_t t = int64_t{request} * shape.qlen + j;
      for (int head = 0; head < kHeads; ++head) {
        const int64_t column = int64_t{head} * kHeadDim;
        advance(std::span(state).subspan(at(int64_t{head} * kStateOfHead), kStateOfHead),
                row_of(inputs.qk, 2 * t * kPartColumns + column),
                row_of(inputs.qk, (2 * t + 1) * kPartColumns + column),
                row_of(inputs.decay, t * kPartColumns + column), inputs.beta[at(t * kHeads + head)],
                inputs.conv.subspan(at(t * kConvChannels + 2 * kPartColumns + column), kHeadDim),
                std::span(o).subspan(at(t * kPartColumns + column), kHeadDim));
      }
      const int32_t slot = table.slot(request, j);
      if (slot > 0) std::copy(state.begin(), state.end(), pool.slot(slot).begin());
    }
  }
  return o;
}

std::vector<float> chunk_squares(const KdaShape& shape, std::span<const Bf16> o) {
  std::vector<float> result;
  for (int request = 0; request < shape.requests(); ++request) {
    for (int head = 0; head < kHeads; ++head) {
      for (int j = 0; j < shape.qlen; ++j) {
        const int64_t t = int64_t{request} * shape.qlen + j;
        for (int row = 0; row < kHeadDim; row += kChunkRows) {
          double sum = 0;
          for (int i = row; i < row + kChunkRows; ++i) {
            const double value = to_float(o[at(t * kPartColumns + head * kHeadDim + i)]);
            sum += value * value;
          }
          result.push_back(static_cast<float>(sum));
        }
      }
    }
  }
  return result;
}

std::vector<Bf16> gated_norm(const KdaShape& shape, std::span<const Bf16> o,
                             std::span<const float> onrm, std::span<const Bf16> proj,
                             std::span<const Bf16> on_w) {
  std::vector<Bf16> core(o.size());
  for (int request = 0; request < shape.requests(); ++request) {
    for (int head = 0; head < kHeads; ++head) {
      for (int j = 0; j < shape.qlen; ++j) {
        const int64_t t = int64_t{request} * shape.qlen + j;
        const int64_t chunks = ((int64_t{request} * kHeads + head) * shape.qlen + j) * kChunks;
        float squares = onrm[at(chunks)];
        for (int c = 1; c < kChunks; ++c) squares += onrm[at(chunks + c)];
        const float r = rsq(squares * kPerHeadColumn + shape.onorm_eps);
        for (int d = 0; d < kHeadDim; ++d) {
          const int64_t column = int64_t{head} * kHeadDim + d;
          const float g2 = to_float(proj[at(t * kProjColumns + kG2Column + column)]);
          core[at(t * kPartColumns + column)] = to_bf16(to_float(o[at(t * kPartColumns + column)]) *
                                                        r * to_float(on_w[at(d)]) * sigmoid(g2));
        }
      }
    }
  }
  return core;
}

}  // namespace baton::reference
