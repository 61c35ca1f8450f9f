#include "builds/kimi_k3/kda_pre_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "builds/kimi_k3/kda_pre_inputs.h"
#include "builds/kimi_k3/model.h"
#include "builds/kimi_k3/reference/attn_res.h"
#include "builds/kimi_k3/reference/kda_pre.h"
#include "builds/random_tensors.h"

namespace baton::builds::kimi_k3 {
namespace {

using reference::Bf16;
using reference::Rule;

/// What the recurrence leaves behind.
struct Recurred {
  std::vector<float> pool;
  std::vector<Bf16> o;
};

std::vector<Bf16> narrow(std::span<const float> values) {
  std::vector<Bf16> result(values.size());
  std::ranges::transform(values, result.begin(), [](float v) { return reference::to_bf16(v); });
  return result;
}

std::vector<float> widen(std::span<const Bf16> values) {
  std::vector<float> result(values.size());
  std::ranges::transform(values, result.begin(), reference::to_float);
  return result;
}

template <class T>
std::span<const uint8_t> bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

class Checker {
 public:
  /// All of them must outlive it.
  Checker(const BuildKey& key, const RankTensors& inputs, const TensorMap& outputs,
          const TensorMap& regions)
      : key_(key),
        inputs_(inputs),
        outputs_(outputs),
        regions_(regions),
        seam_{static_cast<int>(key.integer("tokens")), static_cast<int>(key.integer("nblocks")),
              key.number("eps"), key.number("out_eps")},
        shape_{seam_.tokens, static_cast<int>(key.integer("qlen")),
               static_cast<int>(key.integer("state_len")), key.number("onorm_eps"),
               key.number("lower_bound")},
        table_{input<int32_t>("st_idx"), inputs.get(0, "st_idx").shape[1],
               input<int32_t>("num_acc")} {}

  std::vector<CheckRow> run() {
    check_seam();
    check_projections();
    check_recurrence();
    if (key_.flag("debug")) check_debug();
    check_end();
    return std::move(rows_);
  }

 private:
  template <class T>
  std::span<const T> input(const char* name) const {
    return values_of<T>(inputs_.get(0, name));
  }
  template <class T>
  std::span<const T> output(const char* name) const {
    return values_of<T>(outputs_.at(name));
  }
  /// A build that does not write it has it as an input alone.
  std::span<const Bf16> output_or_input(const char* name) const {
    return outputs_.contains(name) ? output<Bf16>(name) : input<Bf16>(name);
  }
  template <class T>
  std::span<const T> region(const char* name) const {
    return values_of<T>(regions_.at(name));
  }
  reference::Blocks blocks() const {
    const Tensor& tensor = inputs_.get(0, "blocks");
    return {values_of<Bf16>(tensor), tensor.shape[1] * tensor.shape[2], tensor.shape[2]};
  }
  std::span<const Bf16> delta() const {
    return key_.flag("delta") ? input<Bf16>("delta") : std::span<const Bf16>();
  }

  void add(std::string tensor, Rule rule, const reference::Comparison& comparison) {
    rows_.push_back({0, std::move(tensor), std::string(reference::name(rule)), comparison});
  }
  void add(std::string tensor, Rule rule, std::span<const Bf16> actual,
           std::span<const Bf16> expected, size_t row) {
    add(std::move(tensor), rule, reference::compare(rule, actual, expected, row));
  }
  void add(std::string tensor, Rule rule, std::span<const float> actual,
           std::span<const float> expected) {
    add(std::move(tensor), rule, reference::compare(rule, actual, expected));
  }
  /// Every byte, so that nothing hides behind a NaN.
  template <class T>
  void add_bytes(std::string tensor, std::span<const T> actual, const std::vector<T>& expected) {
    add(std::move(tensor), Rule::exact,
        reference::compare_bytes(bytes_of(actual), bytes_of(std::span<const T>(expected))));
  }

  /// `blocks` with the row write_idx of each token the new prefix.
  std::vector<Bf16> next_blocks(std::span<const Bf16> prefix) const {
    std::vector<Bf16> rows(blocks().data.begin(), blocks().data.end());
    const int64_t write_idx = key_.integer("write_idx");
    for (int64_t t = 0; t < seam_.tokens && write_idx >= 0; ++t) {
      std::ranges::copy(
          prefix.subspan(static_cast<size_t>(t * kHidden), kHidden),
          rows.begin() + t * blocks().token_stride + write_idx * blocks().block_stride);
    }
    return rows;
  }

  void check_seam() {
    const auto prefix = output_or_input("prefix");
    add("prefix", Rule::exact, prefix, reference::next_prefix(input<Bf16>("prefix"), delta()),
        kHidden);
    add_bytes("blocks", output_or_input("blocks"), next_blocks(prefix));
    const auto part = region<float>("part");
    add("part", Rule::fp32, part,
        reference::part(seam_, prefix, blocks(), input<Bf16>("ares_nw"), input<Bf16>("ares_qk")));
    const auto wgt = region<float>("wgt");
    add("wgt", Rule::fp32, wgt, reference::gate(seam_, part));
    const auto mixed = reference::mix(seam_, wgt, prefix, blocks());
    const auto msq = region<float>("msq");
    add("msq", Rule::fp32, msq, reference::mean_squares(seam_, mixed));
    add("x", Rule::rounded_dot, region<Bf16>("x"),
        reference::normed(seam_, mixed, msq, input<Bf16>("in_nw")), kHidden);
    add_bytes("xrdy", region<int32_t>("xrdy"), std::vector<int32_t>(reference::kSlices, 1));
  }

  /// A region of floats that are bf16 values, narrowed; a row says whether they are.
  std::vector<Bf16> narrow_region(const char* name) {
    std::vector<Bf16> values = narrow(region<float>(name));
    add(fmt::format("{} in bf16", name), Rule::exact, region<float>(name), widen(values));
    return values;
  }

  void check_projections() {
    proj_ = narrow_region("proj");
    add("proj", Rule::rounded_dot, proj_,
        reference::project(seam_.tokens, region<Bf16>("x"), input<Bf16>("w_in")), kNProj);
    add_bytes("conv_st", output<Bf16>("conv_st"), next_conv_pool(proj_));
    conv_ = convolve(proj_);
    const std::vector<Bf16> qk = narrow_region("qk");
    add("qk", Rule::rounded_dot, qk, qk_of(conv_), kHeadDim);
    each_qk([&](size_t in_region, size_t in_conv) { conv_[in_conv] = qk[in_region]; });
  }

  /// Fed with the kernel's q and k, and the reference's v.
  void check_recurrence() {
    const Recurred recurred = recur(proj_, conv_);
    const auto actual = output<float>("rstate");
    add("rstate", Rule::recurrent, stored_states(actual), stored_states(recurred.pool));
    std::vector<float> others(actual.begin(), actual.end());
    const reference::StatePool pool{others, state_stride()};
    const auto before = input<float>("rstate");
    for (int32_t slot : stored_slots()) {
      const auto start = before.begin() + slot * state_stride();
      std::copy(start, start + reference::kStateOfSlot, pool.slot(slot).begin());
    }
    add("rstate elsewhere", Rule::exact,
        reference::compare_bytes(bytes_of(std::span<const float>(others)), bytes_of(before)));
    const auto onrm = region<float>("onrm");
    add("onrm", Rule::o_squares, onrm, reference::chunk_squares(shape_, recurred.o));
    add("core_out", Rule::gated_core, output<Bf16>("core_out"),
        reference::gated_norm(shape_, recurred.o, onrm, proj_, input<Bf16>("on_w")), kProj);
  }

  void check_debug() {
    add("x_dbg", Rule::exact, output<Bf16>("x_dbg"), region<Bf16>("x"), kHidden);
    add("proj_dbg", Rule::exact, output<float>("proj_dbg"), region<float>("proj"));
  }

  /// The reference run from the inputs alone.
  void check_end() {
    constexpr Rule kRule = Rule::kda_end_to_end;
    const auto prefix = reference::next_prefix(input<Bf16>("prefix"), delta());
    const auto wgt = reference::gate(
        seam_,
        reference::part(seam_, prefix, blocks(), input<Bf16>("ares_nw"), input<Bf16>("ares_qk")));
    const auto mixed = reference::mix(seam_, wgt, prefix, blocks());
    const auto x = reference::normed(seam_, mixed, reference::mean_squares(seam_, mixed),
                                     input<Bf16>("in_nw"));
    const auto proj = reference::project(seam_.tokens, x, input<Bf16>("w_in"));
    const auto recurred = recur(proj, convolve(proj));
    const auto core =
        reference::gated_norm(shape_, recurred.o, reference::chunk_squares(shape_, recurred.o),
                              proj, input<Bf16>("on_w"));
    add("conv_st, end to end", kRule, stored_entries(output<Bf16>("conv_st")),
        stored_entries(next_conv_pool(proj)), kQkv);
    add("rstate, end to end", kRule, stored_states(output<float>("rstate")),
        stored_states(recurred.pool));
    add("core_out, end to end", kRule, output<Bf16>("core_out"), core, kProj);
  }

  template <class T>
  reference::ConvPool<T> conv_pool(std::span<T> data) const {
    const ConvStrides strides = conv_strides(inputs_.get(0, "conv_st"));
    return {data, strides.slot, strides.channel, strides.entry};
  }
  int64_t state_stride() const { return kimi_k3::state_stride(inputs_.get(0, "rstate")); }

  std::vector<Bf16> convolve(std::span<const Bf16> proj) const {
    return reference::convolve(shape_, proj, input<float>("conv_w"), table_,
                               conv_pool(input<Bf16>("conv_st")));
  }

  /// The whole conv state pool behind a launch that made `proj`.
  std::vector<Bf16> next_conv_pool(std::span<const Bf16> proj) const {
    const auto before = input<Bf16>("conv_st");
    std::vector<Bf16> pool(before.begin(), before.end());
    reference::update_conv_pool(shape_, proj, table_, conv_pool(std::span(pool)));
    return pool;
  }

  Recurred recur(std::span<const Bf16> proj, std::span<const Bf16> conv) const {
    const auto before = input<float>("rstate");
    Recurred result{{before.begin(), before.end()}, {}};
    const auto qk = reference::normalised(seam_.tokens, conv);
    const auto beta = reference::betas(seam_.tokens, proj);
    const auto decay = reference::decays(shape_, proj, input<Bf16>("w_fb"), input<float>("a_log"),
                                         input<float>("dt_bias"));
    result.o =
        reference::recur(shape_, {qk, conv, beta, decay}, table_, {result.pool, state_stride()});
    return result;
  }

  /// Calls `visit` with the indices of a value in QK [R, 12, L, 2, 128] and in the conv outputs.
  template <class Visit>
  void each_qk(const Visit& visit) const {
    size_t in_region = 0;
    for (int request = 0; request < shape_.requests(); ++request) {
      for (int head = 0; head < kHeads; ++head) {
        for (int j = 0; j < shape_.qlen; ++j) {
          for (int part = 0; part < 2; ++part) {
            const int token = request * shape_.qlen + j;
            const int first = token * kQkv + part * kProj + head * kHeadDim;
            for (int i = 0; i < kHeadDim; ++i) visit(in_region++, static_cast<size_t>(first + i));
          }
        }
      }
    }
  }

  std::vector<Bf16> qk_of(std::span<const Bf16> conv) const {
    std::vector<Bf16> qk(static_cast<size_t>(seam_.tokens * 2 * kProj));
    each_qk([&](size_t in_region, size_t in_conv) { qk[in_region] = conv[in_conv]; });
    return qk;
  }

  /// The slots that get a recurrent state, ascending.
  std::vector<int32_t> stored_slots() const {
    std::vector<int32_t> slots;
    for (int request = 0; request < shape_.requests(); ++request) {
      for (int j = 0; j < shape_.qlen && table_.first_slot(request) > 0; ++j) {
        if (table_.slot(request, j) > 0) slots.push_back(table_.slot(request, j));
      }
    }
    std::ranges::sort(slots);
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    return slots;
  }

  std::vector<float> stored_states(std::span<const float> pool) const {
    std::vector<float> states;
    for (int32_t slot : stored_slots()) {
      const auto start = pool.begin() + slot * state_stride();
      states.insert(states.end(), start, start + reference::kStateOfSlot);
    }
    return states;
  }

  /// The conv state of every request that has one.
  std::vector<Bf16> stored_entries(std::span<const Bf16> data) const {
    const auto pool = conv_pool(data);
    std::vector<Bf16> entries;
    for (int request = 0; request < shape_.requests(); ++request) {
      const int32_t slot = table_.conv_slot(request);
      for (int entry = 0; entry < shape_.state_len && slot > 0; ++entry) {
        for (int c = 0; c < kQkv; ++c) entries.push_back(pool.at(slot, c, entry));
      }
    }
    return entries;
  }

  const BuildKey& key_;
  const RankTensors& inputs_;
  const TensorMap& outputs_;
  const TensorMap& regions_;
  reference::AttnResShape seam_;
  reference::KdaShape shape_;
  reference::SlotTable table_;
  std::vector<Bf16> proj_;  ///< the kernel's
  std::vector<Bf16> conv_;  ///< q and k the kernel's, v the reference's of proj_
  std::vector<CheckRow> rows_;
};

}  // namespace

std::vector<CheckRow> check_kda_pre(const BuildKey& key, const RankTensors& inputs,
                                    const RankMaps& outputs, const RankMaps& regions) {
  return Checker(key, inputs, outputs[0], regions[0]).run();
}

}  // namespace baton::builds::kimi_k3
