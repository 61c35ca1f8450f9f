// What kda_pre does behind the AttnRes seam, in plain C++: every rounding point of the
// specification; sums that it orders are summed in that order in fp32, dots that it leaves free in
// double. It shares no code with the kernel. Each function is one stage, fed with the stage's own
// inputs.
//
// Rows are request-major: token j of request q is row t = q L + j. NaN and Inf behave as IEEE says.
#pragma once

#include <span>
#include <vector>

#include "builds/kimi_k3/reference/bf16.h"

namespace baton::reference {

struct KdaShape {
  int tokens;     ///< S = R L
  int qlen;       ///< L
  int state_len;  ///< entries of a channel's conv state, >= L + 2
  float onorm_eps, lower_bound;

  int requests() const { return tokens / qlen; }  ///< R
};

inline constexpr int kProjColumns = 6288;  ///< q, k, v, g2, f_a, beta, 4 of padding
inline constexpr int kHeads = 12, kHeadDim = 128;
inline constexpr int kPartColumns = kHeads * kHeadDim;  ///< of each of q, k, v, g2
inline constexpr int kConvChannels = 3 * kPartColumns;  ///< q, k, v: parts 0, 1, 2
inline constexpr int kG2Column = 4608, kFaColumn = 6144, kBetaColumn = 6272;
inline constexpr int kTaps = 4;
inline constexpr int kChunks = 8, kChunkRows = 16;          ///< of a head's 128 state rows
inline constexpr int kStateOfHead = kHeadDim * kHeadDim;    ///< [128 (v), 128 (k)]
inline constexpr int kStateOfSlot = kHeads * kStateOfHead;  ///< dense, f32

/// Which slots a launch uses. A slot <= 0 is padding.
struct SlotTable {
  std::span<const int32_t> slots;     ///< [R, stride], the first L of a row count
  int64_t stride;                     ///< >= L
  std::span<const int32_t> accepted;  ///< [R], 1 .. L: tokens that the last step's verify kept

  int32_t slot(int request, int token) const {
    return slots[static_cast<size_t>(request * stride + token)];
  }
  /// acc: the index of the last accepted token.
  int last_accepted(int request) const { return accepted[static_cast<size_t>(request)] - 1; }
  int32_t conv_slot(int request) const { return slot(request, 0); }
  /// slot0, whose recurrent state the launch starts from.
  int32_t first_slot(int request) const { return slot(request, last_accepted(request)); }
};

/// Entry e of channel c in slot s is element s slot_stride + c channel_stride + e entry_stride.
template <class T>
struct ConvPool {
  std::span<T> data;
  int64_t slot_stride, channel_stride, entry_stride;

  T& at(int64_t slot, int64_t channel, int64_t entry) const {
    return data[static_cast<size_t>(slot * slot_stride + channel * channel_stride +
                                    entry * entry_stride)];
  }
};

/// Slot s is the kStateOfSlot elements from s slot_stride.
struct StatePool {
  std::span<float> data;
  int64_t slot_stride;

  std::span<float> slot(int64_t index) const {
    return data.subspan(static_cast<size_t>(index * slot_stride), kStateOfSlot);
  }
};

/// in_proj: [S, 6288] of x [S, 7168] and w_in [6288, 7168].
std::vector<Bf16> project(int tokens, std::span<const Bf16> x, std::span<const Bf16> w_in);

/// Conv: [S, 4608]. A channel's sequence is its window, entries acc .. acc + 2 of the conv slot
/// (zeros when that slot is padding), then the L projected values.
std::vector<Bf16> convolve(const KdaShape& shape, std::span<const Bf16> proj,
                           std::span<const float> conv_w, const SlotTable& table,
                           const ConvPool<const Bf16>& pool);

/// Conv: each request's conv slot becomes its entries acc + 1 .. acc + state_len - L, then the L
/// projected values; padding slots and everything else stay.
void update_conv_pool(const KdaShape& shape, std::span<const Bf16> proj, const SlotTable& table,
                      const ConvPool<Bf16>& pool);

/// Gates: beta [S, 12].
std::vector<float> betas(int tokens, std::span<const Bf16> proj);

/// Gates: decay [S, 1536], a factor for each head's k column.
std::vector<float> decays(const KdaShape& shape, std::span<const Bf16> proj,
                          std::span<const Bf16> w_fb, std::span<const float> a_log,
                          std::span<const float> dt_bias);

/// Gates: [S, 2, 1536], q and k of conv outputs [S, 4608], each row of 128 l2-normalised and q also
/// scaled by 128^-0.5. Not rounded.
std::vector<float> normalised(int tokens, std::span<const Bf16> conv);

/// What the recurrence of a launch reads besides the states.
struct RecurrenceInputs {
  std::span<const float> qk;     ///< of normalised()
  std::span<const Bf16> conv;    ///< of convolve(): v is its last third
  std::span<const float> beta;   ///< of betas()
  std::span<const float> decay;  ///< of decays()
};

/// Recurrence: o [S, 1536]. `pool` is read at the first slots and then gets the state after each
/// token at its slot, when that slot and the first are no padding. o is 0 where the first slot is
/// padding. A slot that one request names twice keeps the later token's state.
std::vector<Bf16> recur(const KdaShape& shape, const RecurrenceInputs& inputs,
                        const SlotTable& table, const StatePool& pool);

/// Recurrence: ONRM [R, 12, L, 8], the chunks' sums of squares of o.
std::vector<float> chunk_squares(const KdaShape& shape, std::span<const Bf16> o);

/// Norm: core [S, 1536] of o, ONRM and the projected g2.
std::vector<Bf16> gated_norm(const KdaShape& shape, std::span<const Bf16> o,
                             std::span<const float> onrm, std::span<const Bf16> proj,
                             std::span<const Bf16> on_w);

}  // namespace baton::reference
