#include "builds/kimi_k3/gemv.h"

namespace baton::builds::kimi_k3 {

using namespace dsl;

namespace {

/// Chunk `c` of this wave: w + 8 c.
I32 chunk_of_wave(int c) { return wave_id() + kWaves * c; }

bool may_pass_the_end(const GemvMatrix& matrix, int c) {
  return kWaves * (c + 1) > matrix.chunks();
}

}  // namespace

I32 lane_k() { return lane_id() / 16 * 8; }

I32 lane_row() { return lane_id() / 16 * 4; }

ChunkWeights issue_chunk(const GemvMatrix& matrix, const I32& group, int c) {
  const I32 row = kRows * group + lane_id() % kRows;
  const I32 lane_start = row * matrix.k + lane_k();
  const I32 chunk = chunk_of_wave(c);
  I32 start = kKch * chunk;
  if (may_pass_the_end(matrix, c)) start = select(chunk < matrix.chunks(), start, kOutside);
  ChunkWeights weights;
  for (int q = 0; q < kSteps; ++q) {
    weights[static_cast<size_t>(q)] =
        matrix.weights.load<8>(lane_start + start + 32 * q, {.streaming = true});
  }
  return weights;
}

TaskWeights issue_weights(const GemvMatrix& matrix, const I32& group) {
  TaskWeights weights;
  for (int c = 0; c < matrix.chunks_per_wave(); ++c) {
    weights.push_back(issue_chunk(matrix, group, c));
  }
  return weights;
}

Vec<BF16, 8> token_values(const TokenRows& tokens, const I32& k) {
  const I32 token = min(lane_id() % kTokenTile, tokens.tokens - 1);
  return tokens.rows.load<8>(token * tokens.stride() + lane_k() + k);
}

Vec<F32, 4> add_steps(Vec<F32, 4> sum, std::span<const Vec<BF16, 8>> weights,
                      const TokenRows& tokens, const I32& k) {
  for (int step = 0; step < static_cast<int>(weights.size()); ++step) {
    sum =
        mfma_16x16x32(weights[static_cast<size_t>(step)], token_values(tokens, k + 32 * step), sum);
  }
  return sum;
}

void keep_sum(const Vec<F32, 4>& sum, const TokenRows& tokens, const WaveSums& sums) {
  const I32 token = lane_id() % kTokenTile;
  If(token < tokens.tokens, [&] {
    const I32 row = (wave_id() * kTokenTile + token) * WaveSums::kStride + lane_row();
    sums.sums.store(row, sum);
  });
}

void multiply(const GemvMatrix& matrix, const TaskWeights& weights, const TokenRows& tokens,
              const WaveSums& sums) {
  Var<Vec<F32, 4>> sum(zero_accumulator());
  for (int c = 0; c < matrix.chunks_per_wave(); ++c) {
    const I32 chunk = chunk_of_wave(c);
    const auto steps = [&] {
      sum = add_steps(sum.get(), weights[static_cast<size_t>(c)], tokens, kKch * chunk);
    };
    if (may_pass_the_end(matrix, c)) {
      If(chunk < matrix.chunks(), steps);
    } else {
      steps();
    }
  }
  keep_sum(sum.get(), tokens, sums);
}

std::array<F32, 2> sum_waves(const WaveSums& sums, const I32& token, const I32& pair) {
  F32 low(0.0f), high(0.0f);
  for (int wave = 0; wave < kWaves; ++wave) {
    const I32 row = (wave * kTokenTile + token) * WaveSums::kStride + 2 * pair;
    const Vec<F32, 2> part = sums.sums.load<2>(row);
    low = low + part[0];
    high = high + part[1];
  }
  return {low, high};
}

}  // namespace baton::builds::kimi_k3
