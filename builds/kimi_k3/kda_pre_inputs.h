// kda_pre's tensors as host files and tests hold them: shapes, layouts of the pools, random inputs.
//
// By argument name, for one rank. S tokens, L = qlen, R = S / L; rows are request-major.
//   prefix   bf16 [S, 7168]         updated in place; delta=0 leaves it as it is
//   delta    bf16 [S, 7168]         only with delta=1
//   blocks   bf16 [S, B, 7168]      B >= nblocks and B > write_idx; row write_idx gets the prefix
//   conv_st  bf16 [slots, C, E]     channel-major: C >= 4608 channels of E >= state_len entries, or
//                 [slots, E, C]     entry-major; what is beyond 4608 and state_len is padding
//   rstate   f32  [slots, N]        N >= 12 x 128 x 128: a dense [12, 128 (v), 128 (k)], padding;
//                                   or [slots, 12, 128, 128]
//   st_idx   i32  [R, W]            W >= L; a slot <= 0 is padding
//   num_acc  i32  [R]               1 .. L
//   ares_nw, ares_qk, in_nw bf16 [7168]; w_in bf16 [6288, 7168]; w_fb bf16 [1536, 128];
//   conv_w f32 [4608, 4]; a_log f32 [12]; dt_bias f32 [1536]; on_w bf16 [128]
// A slot belongs to one request; a request may name a slot twice and finds the later token's state.
#pragma once

#include <string>
#include <vector>

#include "builds/rank_tensors.h"
#include "runtime/key/build_key.h"

namespace baton::builds::kimi_k3 {

/// Strides in elements: cs_seq, cs_dim, cs_tok.
struct ConvStrides {
  int64_t slot, channel, entry;
};

/// Of a conv_st that require_kda_pre_inputs takes.
ConvStrides conv_strides(const Tensor& conv_st);

/// rs_seq, in elements, of an rstate that require_kda_pre_inputs takes.
int64_t state_stride(const Tensor& rstate);

/// How random inputs lie and what they say; the default is what `baton run` draws.
struct KdaPreOptions {
  bool entry_major = false;
  int row_padding = 0;     ///< conv_st: elements after a channel's entries, an entry's channels
  int slot_padding = 1;    ///< conv_st: rows after a slot's
  int state_padding = 64;  ///< rstate: elements after a slot's
  int spare_slots = 2;     ///< slots that no request has, besides slot 0
  int spare_blocks = 0;    ///< block rows of a token that the key does not speak of
  int table_padding = 0;   ///< st_idx: entries of a row after the first L, of no valid slot
  std::vector<int> padded = {};   ///< requests whose slots are all padding: 0, -1, 0, -1, ...
  std::vector<int> num_acc = {};  ///< of each request; empty: random
};

/// Random inputs of realistic magnitudes; the same seed gives the same inputs. The bytes of padding
/// and of spare slots are random too: canaries.
RankTensors random_kda_pre_inputs(const BuildKey& key, uint64_t seed, const KdaPreOptions& options);
RankTensors random_kda_pre_inputs(const BuildKey& key, uint64_t seed);

/// Throws Error (user) that names the first tensor that is missing or of another shape or dtype,
/// the first num_acc out of 1 .. L, and the first slot that its pool lacks or that two requests
/// share.
void require_kda_pre_inputs(const BuildKey& key, const RankTensors& inputs);

}  // namespace baton::builds::kimi_k3
