// The GEMV rule of all bf16 stages: a task is 16 weight rows; K goes in chunks of 128, wave w takes
// chunks w, w + 8, ...; the waves' sums meet in LDS and are added in wave order from 0 in fp32.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "builds/kimi_k3/model.h"
#include "dsl/dsl.h"

namespace baton::builds::kimi_k3 {

/// A bf16 weight matrix [rows, k] in memory.
struct GemvMatrix {
  dsl::Buffer<dsl::BF16> weights;
  int k;

  int chunks() const { return k / kKch; }
  /// Chunks of a wave, counting one past the end.
  int chunks_per_wave() const { return ceil_div(chunks(), kWaves); }
};

inline constexpr int kSteps = kKch / 32;  ///< MFMA steps of a chunk

/// One chunk's weights of this wave, in flight: [MFMA step].
using ChunkWeights = std::array<dsl::Vec<dsl::BF16, 8>, kSteps>;
/// One task's: [chunk of the wave].
using TaskWeights = std::vector<ChunkWeights>;

/// Issues the loads of this wave's chunk w + 8 c of row group `group`: a lane reads of row l % 16,
/// for q = 0 .. 3, 16 bytes at k = 128 chunk + 32 q + 8 (l / 16). A group or a chunk past the end
/// reads zero and moves no data.
ChunkWeights issue_chunk(const GemvMatrix& matrix, const dsl::I32& group, int c);
/// The same for all chunks of this wave.
TaskWeights issue_weights(const GemvMatrix& matrix, const dsl::I32& group);

/// The token rows of one tile in LDS: row t at t (k + kLdsPad).
struct TokenRows {
  dsl::LdsArray<dsl::BF16> rows;
  int k;
  int tokens;  ///< 1 .. kTokenTile

  int stride() const { return k + kLdsPad; }
};

/// The waves' sums of one task in LDS: [wave][token][row], a padded row of 16.
struct WaveSums {
  static constexpr int kStride = kRows + 4;  ///< the pad spreads the tokens over the banks
  static constexpr int kElements = kWaves * kTokenTile * kStride;

  dsl::LdsArray<dsl::F32> sums;
};

/// Of a lane, in an MFMA step: its first k, 8 (l / 16); its accumulator's first row, 4 (l / 16).
dsl::I32 lane_k();
dsl::I32 lane_row();

/// The lane's operand of an MFMA step: token l % 16, from element `k` + 8 (l / 16) of its row.
/// Columns past the last token repeat it: their results are dropped.
dsl::Vec<dsl::BF16, 8> token_values(const TokenRows& tokens, const dsl::I32& k);

/// `sum` plus the products of the steps `weights`, whose first takes the tokens' values from `k`.
dsl::Vec<dsl::F32, 4> add_steps(dsl::Vec<dsl::F32, 4> sum,
                                std::span<const dsl::Vec<dsl::BF16, 8>> weights,
                                const TokenRows& tokens, const dsl::I32& k);

/// The wave's accumulator -> `sums`. The workgroup's barrier is the caller's.
void keep_sum(const dsl::Vec<dsl::F32, 4>& sum, const TokenRows& tokens, const WaveSums& sums);

/// This wave's sum over its chunks -> `sums`. The workgroup's barrier is the caller's.
void multiply(const GemvMatrix& matrix, const TaskWeights& weights, const TokenRows& tokens,
              const WaveSums& sums);

/// Rows 2 pair and 2 pair + 1 of `token`: the sum over waves 0 .. 7 in order, starting from 0.
std::array<dsl::F32, 2> sum_waves(const WaveSums& sums, const dsl::I32& token,
                                  const dsl::I32& pair);

}  // namespace baton::builds::kimi_k3
