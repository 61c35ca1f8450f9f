#include "builds/kimi_k3/kda_task.h"

#include <algorithm>

#include "builds/kimi_k3/gemv.h"
#include "builds/kimi_k3/sums.h"
#include "runtime/base/error.h"

namespace baton::builds::kimi_k3 {

using namespace dsl;

namespace {

constexpr int kConvThreads = 3 * kChunkRows;     ///< (part, d): part 0 is q, 1 is k, 2 is v
constexpr int kLanesOfRow = kHeadDim / 4;        ///< 32 threads on a state row, 4 columns each
constexpr int kHeadState = kHeadDim * kHeadDim;  ///< elements of a head's state
constexpr int kPairsOfRow = kHeadDim / 2;
constexpr float kL2Eps = 1e-6f;
constexpr float kQueryScale = 0.08838834764831845f;  ///< 128^-0.5
constexpr float kPerHeadDim = 1.0f / kHeadDim;

int passes(int items) { return ceil_div(items, kThreads); }

F32 sigmoid(const F32& z) { return 1.0f / (1.0f + exp2_approx(-z * kLog2e)); }

/// The sum over the 128 columns of a row: a thread's 4 in order, then the row's 32 threads.
F32 dot_of_row(const Vec<F32, 4>& a, const Vec<F32, 4>& b) {
  F32 sum = a[0] * b[0];
  for (int i = 1; i < 4; ++i) sum = fma(a[i], b[i], sum);
  return sum_of_row(sum);
}

Vec<F32, 4> zeros() { return zero_accumulator(); }

}  // namespace

KdaRegions::KdaRegions(const Handoffs& handoffs, const KdaShape& shape)
    : proj(handoffs.scratch<F32>("proj", {shape.requests * shape.qlen, kNProj})),
      qk(handoffs.scratch<F32>("qk", {shape.requests, kHeads, shape.qlen, 2, kHeadDim})),
      onrm(handoffs.scratch<F32>("onrm", {shape.requests, kHeads, shape.qlen, kChunks})) {}

KdaLds::KdaLds(LdsLayout& lds, const KdaShape& shape)
    : v(lds.array<F32>("v", shape.qlen * kChunkRows)),
      f_a(lds.array<BF16>("f_a", shape.qlen * (kHeadDim + kLdsPad))),
      qk(lds.array<F32>("qk_rows", shape.qlen * 2 * kHeadDim)),
      decay(lds.array<F32>("decay", shape.qlen * kHeadDim)),
      beta(lds.array<F32>("beta", shape.qlen)),
      o(lds.array<F32>("o_rows", shape.qlen * kChunkRows)) {}

KdaTasks::KdaTasks(const KdaShape& shape, const KdaTensors& tensors, const KdaRegions& regions,
                   const KdaLds& lds)
    : shape_(shape),
      tensors_(tensors),
      regions_(regions),
      lds_(lds),
      thread_(thread_id()),
      taps_(zeros()),
      state_(zeros()),
      dt_bias_(zeros()),
      a_log_(F32(0.0f)),
      on_w_(pack_bf16({0.0f, 0.0f})) {
  BATON_CHECK(shape.qlen <= kTokenTile, "the decays of a request are one MFMA tile's");
  for (int i = 0; i < history(); ++i) entries_.emplace_back(to_bf16(0.0f));
  for (int q = 0; q < kSteps; ++q) {
    f_b_.emplace_back(bitcast<Vec<BF16, 8>>(zeros()));
  }
}

KdaTasks::Task KdaTasks::task(const I32& index) const {
  const I32 head = index / kChunks;
  return {head / kHeads, head % kHeads, index % kChunks};
}

I32 KdaTasks::row(const Task& t, const I32& token) const { return t.request * shape_.qlen + token; }

I32 KdaTasks::slot(const Task& t, const I32& token) const {
  return tensors_.st_idx[t.request * tensors_.st_stride + token];
}

I32 KdaTasks::accepted(const Task& t) const { return tensors_.num_acc[t.request] - 1; }

/// The slot's recurrent state. A slot of padding is not written, and slot 0 is read for it.
Buffer<F32> KdaTasks::state_of(const I32& slot) const {
  return tensors_.rstate.window(to_i64(max(slot, 0)) * to_i64(tensors_.rs_seq),
                                kHeads * kHeadState);
}

I32 KdaTasks::state_place(const Task& t) const {
  const I32 v = kChunkRows * t.chunk + thread_ / kLanesOfRow;
  return t.head * kHeadState + v * kHeadDim + thread_ % kLanesOfRow * 4;
}

Buffer<BF16> KdaTasks::conv_state_of(const I32& slot) const {
  return tensors_.conv_st.window(to_i64(max(slot, 0)) * to_i64(tensors_.cs_seq));
}

I32 KdaTasks::channel(const Task& t) const {
  const I32 part = thread_ / kChunkRows, d = thread_ % kChunkRows;
  return part * kProj + t.head * kHeadDim + kChunkRows * t.chunk + d;
}

/// The window of 3 entries, and the old ones that stay.
int KdaTasks::history() const { return std::max(kConvHistory, shape_.state_len - shape_.qlen + 1); }

/// Step 0, before any wait of the task.
void KdaTasks::issue(const Task& t) {
  const I32 acc = accepted(t);
  state_ = state_of(slot(t, acc)).load<4>(state_place(t));
  const I32 head_row = t.head * kHeadDim;
  const I32 f_b_row = head_row + kRows * wave_id() + lane_id() % kRows;
  for (int q = 0; q < kSteps; ++q) {
    f_b_[static_cast<size_t>(q)] = tensors_.w_fb.load<8>(f_b_row * kHeadDim + 32 * q + lane_k());
  }
  dt_bias_ = tensors_.dt_bias.load<4>(head_row + kRows * wave_id() + lane_row());
  a_log_ = tensors_.a_log.load(t.head);
  on_w_ = tensors_.on_w.load<2>(kChunkRows * t.chunk + thread_ % (kChunkRows / 2) * 2);
  If(thread_ < kConvThreads, [&] {
    const Buffer<BF16> old = conv_state_of(slot(t, I32(0)));
    for (int i = 0; i < history(); ++i) {
      entries_[static_cast<size_t>(i)] =
          old.load(channel(t) * tensors_.cs_dim + (acc + i) * tensors_.cs_tok);
    }
    taps_ = tensors_.conv_w.load<4>(channel(t) * kConvTaps);
  });
}

/// Step 1, threads (part, d): the request's projected values follow the window.
void KdaTasks::conv(const Task& t) {
  If(thread_ < kConvThreads, [&] {
    std::vector<PollSpec<F32>> specs;
    for (int j = 0; j < shape_.qlen; ++j) {
      specs.push_back(regions_.proj.at(row(t, I32(j)) * kNProj + channel(t)));
    }
    const std::vector<F32> inputs = poll(specs);
    conv_outputs(t, inputs);
    conv_state(t, inputs);
  });
}

/// out_j = bf16(silu(the 4 taps in order)); q and k go out through QK, v stays in LDS.
void KdaTasks::conv_outputs(const Task& t, const std::vector<F32>& inputs) {
  const Bool has_state = slot(t, I32(0)) > 0;
  std::vector<F32> sequence;
  for (size_t i = 0; i < kConvHistory; ++i) {
    sequence.push_back(select(has_state, to_f32(entries_[i]), 0.0f));
  }
  sequence.insert(sequence.end(), inputs.begin(), inputs.end());
  const I32 part = thread_ / kChunkRows, d = thread_ % kChunkRows;
  const Vec<F32, 4> taps = taps_.get();
  for (int j = 0; j < shape_.qlen; ++j) {
    const auto first = static_cast<size_t>(j);
    F32 sum = taps[0] * sequence[first];
    for (int tap = 1; tap < kConvTaps; ++tap) {
      sum = fma(taps[tap], sequence[first + static_cast<size_t>(tap)], sum);
    }
    const F32 out = round_bf16(sum * sigmoid(sum));
    If(part < 2, [&] {
      put(regions_.qk, qk_row(t, I32(j), part) * kHeadDim + kChunkRows * t.chunk + d, out);
    }).Else([&] { lds_.v.store(j * kChunkRows + d, out); });
  }
}

/// The slot's state becomes the old entries that stay, then the request's values.
void KdaTasks::conv_state(const Task& t, const std::vector<F32>& inputs) {
  const I32 to = slot(t, I32(0));
  const int old = shape_.state_len - shape_.qlen;
  If(to > 0, [&] {
    const Buffer<BF16> state = conv_state_of(to);
    const auto store = [&](int entry, const BF16& value) {
      state.store(channel(t) * tensors_.cs_dim + entry * tensors_.cs_tok, value);
    };
    for (int i = 0; i < old; ++i) store(i, entries_[static_cast<size_t>(i + 1)].get());
    for (int j = 0; j < shape_.qlen; ++j) {
      store(old + j, to_bf16(inputs[static_cast<size_t>(j)]));
    }
  });
}

/// Row (token, part) of QK, of the task's head.
I32 KdaTasks::qk_row(const Task& t, const I32& token, const I32& part) const {
  return ((t.request * kHeads + t.head) * shape_.qlen + token) * 2 + part;
}

/// Step 2.
void KdaTasks::gates(const Task& t) {
  poll_gate_inputs(t);
  barrier();
  decays();
  normalise_rows();
  barrier();
}

/// f_a, the head's q and k, and beta, all in one wait -> LDS.
void KdaTasks::poll_gate_inputs(const Task& t) {
  const int f_a_pairs = shape_.qlen * kPairsOfRow, qk_pairs = 2 * f_a_pairs;
  std::vector<PollSpec<F32>> specs;
  const auto pair_of_pass = [&](int pass, int pairs) {
    return min(pass * kThreads + thread_, pairs - 1);
  };
  for (int pass = 0; pass < passes(f_a_pairs); ++pass) {
    const I32 pair = pair_of_pass(pass, f_a_pairs);
    const I32 column = kFaRow + pair % kPairsOfRow * 2;
    specs.push_back(regions_.proj.at(row(t, pair / kPairsOfRow) * kNProj + column, 2));
  }
  const I32 first_qk = qk_row(t, I32(0), I32(0)) * kHeadDim;
  for (int pass = 0; pass < passes(qk_pairs); ++pass) {
    specs.push_back(regions_.qk.at(first_qk + 2 * pair_of_pass(pass, qk_pairs), 2));
  }
  const I32 beta_token = min(thread_, shape_.qlen - 1);
  specs.push_back(regions_.proj.at(row(t, beta_token) * kNProj + kBetaRow + t.head));
  const std::vector<F32> words = poll(specs);

  size_t word = 0;
  for (int pass = 0; pass < passes(f_a_pairs); ++pass, word += 2) {
    const I32 pair = pair_of_pass(pass, f_a_pairs);
    const I32 start = pair / kPairsOfRow * (kHeadDim + kLdsPad) + pair % kPairsOfRow * 2;
    lds_.f_a.store(start, pack_bf16({words[word], words[word + 1]}));
  }
  for (int pass = 0; pass < passes(qk_pairs); ++pass, word += 2) {
    lds_.qk.store(2 * pair_of_pass(pass, qk_pairs), Vec<F32, 2>({words[word], words[word + 1]}));
  }
  lds_.beta.store(beta_token, sigmoid(words[word]));
}

/// g1 = f_b f_a by MFMA, rounded to bf16, + dt_bias; decay = exp(lower_bound sigmoid(exp(a_log)
/// g1)). Wave w: columns 16 w .. of the head.
void KdaTasks::decays() {
  std::vector<Vec<BF16, 8>> f_b;
  for (const Var<Vec<BF16, 8>>& step : f_b_) f_b.push_back(step.get());
  const Vec<F32, 4> sum = add_steps(zeros(), f_b, {lds_.f_a, kHeadDim, shape_.qlen}, I32(0));
  const F32 slope = exp2_approx(a_log_ * kLog2e);
  const Vec<F32, 4> bias = dt_bias_.get();
  const auto decay = [&](int i) {
    const F32 g1 = round_bf16(sum[i]) + bias[i];
    const F32 gate = shape_.lower_bound * sigmoid(slope * g1);
    return exp2_approx(gate * kLog2e);
  };
  const I32 token = lane_id() % kTokenTile;
  If(token < shape_.qlen, [&] {
    lds_.decay.store(token * kHeadDim + kRows * wave_id() + lane_row(),
                     Vec<F32, 4>({decay(0), decay(1), decay(2), decay(3)}));
  });
}

/// q and k of a token become unit vectors, q also times 128^-0.5; a wave a row.
void KdaTasks::normalise_rows() {
  const int rows = 2 * shape_.qlen;
  for (int first = 0; first < rows; first += kWaves) {
    const I32 row = first + wave_id();
    const auto normalise = [&] {
      const I32 low = row * kHeadDim + lane_id(), high = low + kWaveLanes;
      const F32 x0 = lds_.qk.load(low), x1 = lds_.qk.load(high);
      const F32 sum =
          butterfly({32, 16, 8, 4, 2, 1}, fma(x1, x1, x0 * x0), [](F32 a, F32 b) { return a + b; });
      const F32 r = rsq_approx(sum + kL2Eps);
      const F32 scale = select(row % 2 == 0, F32(kQueryScale), 1.0f);
      lds_.qk.store(low, x0 * r * scale);
      lds_.qk.store(high, x1 * r * scale);
    };
    if (first + kWaves <= rows) {
      normalise();
    } else {
      If(row < rows, normalise);
    }
  }
}

/// Step 3, token by token; 32 threads on a state row v. S *= decay; p = S . k; u = (v - p) beta;
/// S += u k; o = bf16(S . q).
void KdaTasks::recurrence(const Task& t) {
  const Bool has_state = slot(t, accepted(t)) > 0;
  std::vector<I32> slots;  // of all tokens, read at once
  for (int j = 0; j < shape_.qlen; ++j) slots.push_back(slot(t, I32(j)));
  const I32 v_row = thread_ / kLanesOfRow, column = thread_ % kLanesOfRow * 4;
  Vec<F32, 4> state = select(has_state, state_.get(), zeros());
  for (int j = 0; j < shape_.qlen; ++j) {
    const I32& to = slots[static_cast<size_t>(j)];
    const Vec<F32, 4> q = lds_.qk.load<4>(2 * j * kHeadDim + column);
    const Vec<F32, 4> k = lds_.qk.load<4>((2 * j + 1) * kHeadDim + column);
    state = state * lds_.decay.load<4>(j * kHeadDim + column);
    const F32 p = dot_of_row(state, k);
    const F32 u = (lds_.v.load(j * kChunkRows + v_row) - p) * lds_.beta.load(j);
    state = Vec<F32, 4>({fma(u, k[0], state[0]), fma(u, k[1], state[1]), fma(u, k[2], state[2]),
                         fma(u, k[3], state[3])});
    const F32 o = select(has_state, round_bf16(dot_of_row(state, q)), 0.0f);
    If(column == 0, [&] { lds_.o.store(j * kChunkRows + v_row, o); });
    If(has_state & (to > 0), [&] { state_of(to).store(state_place(t), state); });
  }
  barrier();
  put_square_sums(t);
}

/// Thread j: the sum of squares of the chunk's 16 rows of o, in order -> ONRM.
void KdaTasks::put_square_sums(const Task& t) {
  If(thread_ < shape_.qlen, [&] {
    F32 sum(0.0f);
    for (int v = 0; v < kChunkRows; ++v) {
      const F32 o = lds_.o.load(thread_ * kChunkRows + v);
      sum = v == 0 ? o * o : fma(o, o, sum);
    }
    put(regions_.onrm, onrm_row(t, thread_) * kChunks + t.chunk, sum);
  });
}

I32 KdaTasks::onrm_row(const Task& t, const I32& token) const {
  return (t.request * kHeads + t.head) * shape_.qlen + token;
}

/// Step 4, thread (token, pair of rows): core = bf16(o r on_w sigmoid(g2)).
void KdaTasks::norm(const Task& t) {
  constexpr int kPairs = kChunkRows / 2;
  If(thread_ < shape_.qlen * kPairs, [&] {
    const I32 token = thread_ / kPairs, pair = thread_ % kPairs;
    const I32 column = t.head * kHeadDim + kChunkRows * t.chunk + 2 * pair;
    std::vector<PollSpec<F32>> specs;
    for (int chunk = 0; chunk < kChunks; chunk += 2) {
      specs.push_back(regions_.onrm.at(onrm_row(t, token) * kChunks + chunk, 2));
    }
    specs.push_back(regions_.proj.at(row(t, token) * kNProj + kG2Row + column, 2));
    const std::vector<F32> words = poll(specs);
    const F32 squares = sum_in_order(std::span(words).first(kChunks));
    const F32 r = rsq_approx(squares * kPerHeadDim + shape_.onorm_eps);
    const Vec<F32, 2> o = lds_.o.load<2>(token * kChunkRows + 2 * pair);
    const Vec<BF16, 2> weight = on_w_.get();
    const auto core = [&](int i) {
      return o[i] * r * to_f32(weight[i]) * sigmoid(words[static_cast<size_t>(kChunks + i)]);
    };
    tensors_.core_out.store(row(t, token) * kProj + column, pack_bf16({core(0), core(1)}));
  });
}

void KdaTasks::issue_first() {
  If(cta_id() < shape_.tasks(), [&] { issue(task(cta_id())); });
}

void KdaTasks::run() {
  barrier();  // LDS is read by those who had it before
  For(cta_id(), shape_.tasks(), kBlocks, [&](const I32& index) {
    const Task t = task(index);
    reread_arguments();
    stage("conv", [&] { conv(t); });
    stage("gates", [&] { gates(t); });
    stage("recurrence", [&] { recurrence(t); });
    stage("norm", [&] { norm(t); });
    if (shape_.tasks() <= kBlocks) return;
    const I32 next = index + kBlocks;
    reread_arguments();
    stage("prefetch", [&] { If(next < shape_.tasks(), [&] { issue(task(next)); }); });
  });
}

}  // namespace baton::builds::kimi_k3
