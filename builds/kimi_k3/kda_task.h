// The tasks of a KDA layer behind in_proj. A task is a request, a head and a chunk of 16 of the
// head's 128 value rows: causal convolution, gates, the recurrence over the request's tokens, and
// the gated norm. Task i runs on CTA i mod 256.
#pragma once

#include <deque>
#include <vector>

#include "builds/kimi_k3/model.h"
#include "dsl/dsl.h"

namespace baton::builds::kimi_k3 {

inline constexpr int kChunkRows = 16;                  ///< value rows of a task
inline constexpr int kChunks = kHeadDim / kChunkRows;  ///< 8 tasks a head

struct KdaShape {
  int requests;   ///< R
  int qlen;       ///< L
  int state_len;  ///< entries of a slot's conv state
  float onorm_eps, lower_bound;

  int tasks() const { return requests * kHeads * kChunks; }
};

struct KdaTensors {
  dsl::Buffer<dsl::BF16> w_fb;   ///< [1536, 128]
  dsl::Buffer<dsl::F32> conv_w;  ///< [4608, 4]
  dsl::Pool<dsl::BF16> conv_st;  ///< slot s, channel c, entry e at s cs_seq + c cs_dim + e cs_tok
  dsl::I32 cs_seq, cs_dim, cs_tok;
  dsl::Buffer<dsl::F32> a_log;    ///< [12]
  dsl::Buffer<dsl::F32> dt_bias;  ///< [1536]
  dsl::Buffer<dsl::BF16> on_w;    ///< [128]
  dsl::Pool<dsl::F32> rstate;     ///< slot s: [12, 128 (v), 128 (k)] from s rs_seq
  dsl::I32 rs_seq;
  dsl::Table<dsl::I32> st_idx;  ///< [R, st_stride]: a token's slot
  dsl::I32 st_stride;
  dsl::Table<dsl::I32> num_acc;     ///< [R]
  dsl::Buffer<dsl::BF16> core_out;  ///< [S, 1536]
};

struct KdaRegions {
  KdaRegions(const dsl::Handoffs& handoffs, const KdaShape& shape);

  dsl::Region<dsl::F32> proj;  ///< [S, 6288]
  dsl::Region<dsl::F32> qk;    ///< [R, 12, L, 2, 128]: q and k behind the convolution
  dsl::Region<dsl::F32> onrm;  ///< [R, 12, L, 8]: a chunk's sum of squares of o
};

struct KdaLds {
  KdaLds() = default;
  KdaLds(dsl::LdsLayout& lds, const KdaShape& shape);

  dsl::LdsArray<dsl::F32> v;      ///< [L, 16]
  dsl::LdsArray<dsl::BF16> f_a;   ///< [L, 128], rows padded
  dsl::LdsArray<dsl::F32> qk;     ///< [L, 2, 128]
  dsl::LdsArray<dsl::F32> decay;  ///< [L, 128]
  dsl::LdsArray<dsl::F32> beta;   ///< [L]
  dsl::LdsArray<dsl::F32> o;      ///< [L, 16]
};

// The tasks of a head wait for each other: they run at the same time, which they do when no head's
// tasks are parted by the round of CTAs.
static_assert(kBlocks % kChunks == 0);

class KdaTasks {
 public:
  KdaTasks(const KdaShape& shape, const KdaTensors& tensors, const KdaRegions& regions,
           const KdaLds& lds);

  /// The first task's loads that need no hand-off: to be issued before anything waits.
  void issue_first();
  /// All tasks of this CTA, each one's loads in flight before the last one ends. LDS is free.
  void run();

 private:
  /// Where a task stands.
  struct Task {
    dsl::I32 request, head, chunk;
  };
  Task task(const dsl::I32& index) const;
  dsl::I32 row(const Task& t, const dsl::I32& token) const;  ///< of the batch: q L + j
  dsl::I32 qk_row(const Task& t, const dsl::I32& token, const dsl::I32& part) const;
  dsl::I32 onrm_row(const Task& t, const dsl::I32& token) const;
  dsl::I32 slot(const Task& t, const dsl::I32& token) const;
  dsl::I32 accepted(const Task& t) const;  ///< num_acc - 1
  dsl::Buffer<dsl::F32> state_of(const dsl::I32& slot) const;
  dsl::I32 state_place(const Task& t) const;  ///< of the thread's 4 columns of its row
  dsl::Buffer<dsl::BF16> conv_state_of(const dsl::I32& slot) const;
  dsl::I32 channel(const Task& t) const;  ///< of conv thread (part, d)
  int history() const;                    ///< entries that a conv thread loads

  void issue(const Task& t);
  void conv(const Task& t);
  void conv_outputs(const Task& t, const std::vector<dsl::F32>& inputs);
  void conv_state(const Task& t, const std::vector<dsl::F32>& inputs);
  void gates(const Task& t);
  void poll_gate_inputs(const Task& t);
  void decays();
  void normalise_rows();
  void recurrence(const Task& t);
  void put_square_sums(const Task& t);
  void norm(const Task& t);

  KdaShape shape_;
  KdaTensors tensors_;
  KdaRegions regions_;
  KdaLds lds_;
  dsl::I32 thread_;

  // The next task's loads. They live across the loop of tasks.
  std::deque<dsl::Var<dsl::BF16>> entries_;  ///< of conv threads: from entry num_acc - 1 on
  dsl::Var<dsl::Vec<dsl::F32, 4>> taps_, state_, dt_bias_;
  std::deque<dsl::Var<dsl::Vec<dsl::BF16, 8>>> f_b_;  ///< [MFMA step]
  dsl::Var<dsl::F32> a_log_;
  dsl::Var<dsl::Vec<dsl::BF16, 2>> on_w_;
};

}  // namespace baton::builds::kimi_k3
