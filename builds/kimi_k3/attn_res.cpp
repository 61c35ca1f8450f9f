#include "builds/kimi_k3/attn_res.h"

#include <algorithm>
#include <limits>

#include "builds/kimi_k3/sums.h"

namespace baton::builds::kimi_k3 {

using namespace dsl;

namespace {

constexpr int kRowsPerPass = kThreads / kQc;  ///< 16
constexpr float kPerHidden = 1.0f / kHidden;

int passes(int rows) { return ceil_div(rows, kRowsPerPass); }

/// v0 v0 + v1 v1 + ..., in order, each product fused with its addition.
F32 square_sum(const std::array<F32, kQcCols>& v) {
  F32 sum = v[0] * v[0];
  for (int c = 1; c < kQcCols; ++c) sum = fma(v[c], v[c], sum);
  return sum;
}

std::array<F32, kQcCols> widen(const Vec<BF16, kQcCols>& v) {
  return {to_f32(v[0]), to_f32(v[1]), to_f32(v[2]), to_f32(v[3])};
}

}  // namespace

AttnResRegions::AttnResRegions(const Handoffs& handoffs, const AttnResShape& shape)
    : part(handoffs.scratch<F32>("part", {kNa, shape.tokens, shape.sources(), 2})),
      wgt(handoffs.scratch<F32>("wgt", {shape.tokens, shape.sources() + 1})),
      msq(handoffs.scratch<F32>("msq", {kNa, shape.tokens})),
      xrdy(handoffs.scratch<I32>("xrdy", {kNa})) {}

AttnResLds::AttnResLds(LdsLayout& lds, const AttnResShape& shape)
    : row(lds.array<BF16>("row", shape.tokens * kCols)),
      gate_sums(lds.array<F32>("gate_sums", shape.sources() * kGroups * 2)),
      msq_sums(lds.array<F32>("msq_sums", shape.tokens * kGroups)) {
  const int64_t elements = int64_t{shape.tokens} * shape.nblocks * kCols;
  keeps_blocks = lds.bytes() + 2 * elements <= current_target().lds_bytes - kLdsReserve;
  if (keeps_blocks) blocks = lds.array<BF16>("blocks", elements);
}

AttnRes::AttnRes(const AttnResShape& shape, const AttnResTensors& tensors,
                 const AttnResRegions& regions, const AttnResLds& lds)
    : shape_(shape),
      tensors_(tensors),
      regions_(regions),
      lds_(lds),
      cta_(cta_id()),
      thread_(thread_id()),
      quad_(thread_ % kQc),
      column_(kCols * cta_ + kQcCols * quad_) {}

AttnRes::Row AttnRes::row_of_pass(int pass, int rows) const {
  const I32 row = kRowsPerPass * pass + thread_ / kQc;
  return {min(row, rows - 1), row < rows};
}

Vec<BF16, 4> AttnRes::load_block(const I32& token, const I32& block) const {
  return tensors_.blocks.load<4>(token * tensors_.blk_sm + block * tensors_.blk_sr + column_);
}

void AttnRes::issue_loads() {
  nw_ = tensors_.nw.load<4>(column_);
  qk_ = tensors_.qk.load<4>(column_);
  in_nw_ = tensors_.in_nw.load<4>(column_);
  const int block_rows = shape_.tokens * shape_.nblocks;
  for (int pass = 0; pass < passes(block_rows); ++pass) {
    const I32 row = row_of_pass(pass, block_rows).index;
    const I32 token = row / shape_.nblocks, block = row % shape_.nblocks;
    block_values_.push_back(load_block(token, block));
  }
  for (int pass = 0; pass < passes(shape_.tokens); ++pass) {
    const I32 start = row_of_pass(pass, shape_.tokens).index * kHidden + column_;
    if (!shape_.reset) old_prefix_.push_back(tensors_.prefix.load<4>(start));
    if (shape_.delta == Delta::memory) delta_.push_back(tensors_.delta.load<4>(start));
  }
}

/// Partial sums over the slice's 128 columns: sq = sum v^2, dt = sum v (nw qk) -> PART.
void AttnRes::finish_row(const I32& token, const I32& source, const Bool& valid,
                         const Vec<BF16, 4>& value) {
  const std::array<F32, kQcCols> v = widen(value), nw = widen(nw_), qk = widen(qk_);
  F32 dt = v[0] * (nw[0] * qk[0]);
  for (int c = 1; c < kQcCols; ++c) dt = fma(v[c], nw[c] * qk[c], dt);
  const F32 sq_slice = sum_of_row(square_sum(v));
  const F32 dt_slice = sum_of_row(dt);
  If(valid & (quad_ == 0), [&] {
    const I32 slice_row = (cta_ * shape_.tokens + token) * shape_.sources() + source;
    put(regions_.part, slice_row * 2, {sq_slice, dt_slice});
  });
}

/// bf16(prefix + delta) of the thread's row of a pass; with reset, delta; without delta, the
/// prefix.
Vec<BF16, 4> AttnRes::new_prefix(size_t pass, const I32& place) const {
  if (shape_.delta == Delta::none) return old_prefix_[pass];
  const Vec<BF16, 4> delta = shape_.delta == Delta::lds ? lds_.row.load<4>(place) : delta_[pass];
  if (shape_.reset) return delta;
  const auto p = widen(old_prefix_[pass]), d = widen(delta);
  return pack_bf16({p[0] + d[0], p[1] + d[1], p[2] + d[2], p[3] + d[3]});
}

void AttnRes::store_prefix(const I32& token, const Vec<BF16, 4>& prefix) const {
  if (shape_.delta != Delta::none) tensors_.prefix.store(token * kHidden + column_, prefix);
  if (shape_.write_block < 0) return;
  tensors_.blocks.store(token * tensors_.blk_sm + shape_.write_block * tensors_.blk_sr + column_,
                        prefix);
}

void AttnRes::slice() {
  const int block_rows = shape_.tokens * shape_.nblocks;
  for (int pass = 0; pass < passes(block_rows); ++pass) {
    const Row row = row_of_pass(pass, block_rows);
    const I32 token = row.index / shape_.nblocks, block = row.index % shape_.nblocks;
    const Vec<BF16, 4>& value = block_values_[static_cast<size_t>(pass)];
    finish_row(token, block, row.valid, value);
    if (!lds_.keeps_blocks) continue;
    If(row.valid, [&] { lds_.blocks.store(row.index * kCols + kQcCols * quad_, value); });
  }
  for (int pass = 0; pass < passes(shape_.tokens); ++pass) {
    const Row row = row_of_pass(pass, shape_.tokens);
    const I32 place = row.index * kCols + kQcCols * quad_;
    const Vec<BF16, 4> prefix = new_prefix(static_cast<size_t>(pass), place);
    If(row.valid, [&] {
      store_prefix(row.index, prefix);
      lds_.row.store(place, prefix);
    });
    finish_row(row.index, I32(shape_.nblocks), row.valid, prefix);
  }
}

void AttnRes::gate() {
  for (int first = 0; first < shape_.tokens; first += kNa) {
    const I32 token = first + cta_;
    If(token < shape_.tokens, [&] {
      if (first > 0) barrier();  // the last token's sums are read
      gate_token(token);
    });
  }
}

/// sq and dt summed over 56 slices: 8 groups of 7, a thread each, then the groups in order.
void AttnRes::gate_token(const I32& token) {
  const I32 source = thread_ / kGroups, group = thread_ % kGroups;
  If(thread_ < shape_.sources() * kGroups, [&] {
    std::vector<PollSpec<F32>> specs;
    for (int i = 0; i < kGsl; ++i) {
      const I32 slice = kGsl * group + i;
      const I32 row = (slice * shape_.tokens + token) * shape_.sources() + source;
      specs.push_back(regions_.part.at(row * 2, 2));
    }
    const std::vector<F32> words = poll(specs);
    std::vector<F32> sq, dt;
    for (size_t i = 0; i < words.size(); i += 2) {
      sq.push_back(words[i]);
      dt.push_back(words[i + 1]);
    }
    lds_.gate_sums.store(2 * thread_, Vec<F32, 2>({sum_in_order(sq), sum_in_order(dt)}));
  });
  barrier();
  If(thread_ < 16, [&] { gate_weights(token); });
}

/// Lane src < NS: softmax over the sources with exp2, the maximum subtracted -> WGT.
void AttnRes::gate_weights(const I32& token) {
  const I32 source = thread_;
  const I32 held = min(source, shape_.sources() - 1);
  std::vector<F32> sq, dt;
  for (int group = 0; group < kGroups; ++group) {
    const Vec<F32, 2> sums = lds_.gate_sums.load<2>(2 * (held * kGroups + group));
    sq.push_back(sums[0]);
    dt.push_back(sums[1]);
  }
  const F32 rstd = rsq_approx(sum_in_order(sq) * kPerHidden + shape_.eps);
  const F32 logit = sum_in_order(dt) * rstd * kLog2e;
  const Bool is_source = source < shape_.sources();
  const F32 masked = select(is_source, logit, -std::numeric_limits<float>::infinity());
  const F32 largest = butterfly({8, 4, 2, 1}, masked, [](F32 a, F32 b) { return max(a, b); });
  const F32 weight = select(is_source, exp2_approx(logit - largest), 0.0f);
  const F32 sum = butterfly({8, 4, 2, 1}, weight, [](F32 a, F32 b) { return a + b; });
  If(source <= shape_.sources(), [&] {
    put(regions_.wgt, token * (shape_.sources() + 1) + source, select(is_source, weight, sum));
  });
}

/// The thread's 4 columns of every source of `token`.
std::vector<Vec<BF16, 4>> AttnRes::values_of_sources(const I32& token) const {
  std::vector<Vec<BF16, 4>> values;
  for (int block = 0; block < shape_.nblocks; ++block) {
    const I32 row = token * shape_.nblocks + block;
    values.push_back(lds_.keeps_blocks ? lds_.blocks.load<4>(row * kCols + kQcCols * quad_)
                                       : load_block(token, I32(block)));
  }
  values.push_back(lds_.row.load<4>(token * kCols + kQcCols * quad_));
  return values;
}

/// (sum over the sources in order of e_src v_src) / sum, for the thread's 4 columns.
Vec<F32, 4> AttnRes::mixed(const I32& token) {
  const std::vector<Vec<BF16, 4>> values = values_of_sources(token);
  const int words = shape_.sources() + 1;
  std::vector<PollSpec<F32>> specs;
  for (int i = 0; i < words; i += 2) {
    specs.push_back(regions_.wgt.at(token * words + i, std::min(2, words - i)));
  }
  const std::vector<F32> weights = poll(specs);
  std::array<F32, kQcCols> sum;
  for (int source = 0; source < shape_.sources(); ++source) {
    const auto v = widen(values[static_cast<size_t>(source)]);
    const F32 weight = weights[static_cast<size_t>(source)];
    for (size_t c = 0; c < sum.size(); ++c) {
      sum[c] = source == 0 ? weight * v[c] : fma(weight, v[c], sum[c]);
    }
  }
  const F32 total = weights.back();
  return Vec<F32, 4>({sum[0] / total, sum[1] / total, sum[2] / total, sum[3] / total});
}

/// The token's mean of squares: the slice's sum -> MSQ, then all 56, summed as in the gate.
F32 AttnRes::mean_square(const I32& token, const Bool& valid) {
  If(valid & (quad_ < kGroups), [&] {
    std::vector<PollSpec<F32>> specs;
    for (int i = 0; i < kGsl; ++i) {
      specs.push_back(regions_.msq.at((kGsl * quad_ + i) * shape_.tokens + token));
    }
    lds_.msq_sums.store(token * kGroups + quad_, sum_in_order(poll(specs)));
  });
  barrier();
  std::vector<F32> groups;
  for (int group = 0; group < kGroups; ++group) {
    groups.push_back(lds_.msq_sums.load(token * kGroups + group));
  }
  return sum_in_order(groups) * kPerHidden;
}

void AttnRes::mix() {
  barrier();  // the other threads' values
  std::vector<Vec<F32, 4>> mix;
  for (int pass = 0; pass < passes(shape_.tokens); ++pass) {
    const Row row = row_of_pass(pass, shape_.tokens);
    mix.push_back(mixed(row.index));
    const Vec<F32, 4>& m = mix.back();
    const F32 squares = sum_of_row(square_sum({m[0], m[1], m[2], m[3]}));
    If(row.valid & (quad_ == 0),
       [&] { put(regions_.msq, cta_ * shape_.tokens + row.index, squares); });
  }
  for (int pass = 0; pass < passes(shape_.tokens); ++pass) {
    const Row row = row_of_pass(pass, shape_.tokens);
    const F32 r = rsq_approx(mean_square(row.index, row.valid) + shape_.out_eps);
    const Vec<F32, 4>& m = mix[static_cast<size_t>(pass)];
    const auto nw = widen(in_nw_);
    const auto x =
        pack_bf16({m[0] * r * nw[0], m[1] * r * nw[1], m[2] * r * nw[2], m[3] * r * nw[3]});
    If(row.valid, [&] {
      tensors_.x.store(row.index * kHidden + column_, x);
      if (tensors_.x_dbg) tensors_.x_dbg->store(row.index * kHidden + column_, x);
    });
  }
  publish(regions_.xrdy, cta_);
}

}  // namespace baton::builds::kimi_k3
