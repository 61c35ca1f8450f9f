#include "builds/kimi_k3/attn_post_check.h"

#include <cmath>

#include "builds/kimi_k3/model.h"
#include "builds/kimi_k3/reference/attn_post.h"
#include "builds/kimi_k3/reference/attn_res.h"
#include "builds/random_tensors.h"
#include "runtime/base/error.h"

namespace baton::builds::kimi_k3 {
namespace {

using reference::Bf16;
using reference::Rule;

/// An input tensor: its shape, and how its values are drawn.
struct InputSpec {
  const char* name;
  std::vector<int64_t> shape;
  bool own;  ///< each rank has its own
  float mean, deviation;
};

std::vector<InputSpec> input_specs(const BuildKey& key) {
  const int64_t tokens = key.integer("tokens"), nblocks = key.integer("nblocks");
  constexpr float kNone = 0, kOne = 1;
  // o_proj sums kTp x kProj products: its weights are scaled so that the all-reduce is of order 1.
  const float o_scale = kOne / std::sqrt(static_cast<float>(kTp * kProj));
  std::vector<InputSpec> specs = {
      {"core", {tokens, kProj}, true, kNone, kOne},
      {"w_o", {kHidden, kProj}, true, kNone, o_scale},
      {"blocks", {tokens, nblocks, kHidden}, false, kNone, kOne},
      {"ares_nw", {kHidden}, false, kOne, 0.1f},
      {"ares_qk", {kHidden}, false, kNone, 0.02f},
      {"in_nw", {kHidden}, false, kOne, 0.1f},
  };
  if (!key.flag("reset")) specs.push_back({"prefix", {tokens, kHidden}, false, kNone, kOne});
  return specs;
}

/// What a chain of reference stages works on.
class Checker {
 public:
  /// All of them must outlive it.
  Checker(const BuildKey& key, const RankTensors& inputs, const RankMaps& outputs,
          const RankMaps& regions)
      : inputs_(inputs),
        outputs_(outputs),
        regions_(regions),
        shape_{static_cast<int>(key.integer("tokens")), static_cast<int>(key.integer("nblocks")),
               key.number("eps"), key.number("out_eps")},
        reset_(key.flag("reset")),
        two_shot_(key.flag("two_shot")),
        has_ar_(regions[0].contains("ar")) {}

  std::vector<CheckRow> run() {
    for (int rank = 0; rank < kTp; ++rank) check_pushes(rank);
    for (int rank = 0; rank < kTp; ++rank) check_stages(rank);
    check_end();
    for (int rank = 1; rank < kTp; ++rank) {
      for (const char* name : {"prefix", "x_out"}) {
        add(rank, fmt::format("{} = rank 0's", name), Rule::exact, output(rank, name),
            output(0, name));
      }
    }
    return std::move(rows_);
  }

 private:
  std::span<const Bf16> input(int rank, const char* name) const {
    return values_of<Bf16>(inputs_.get(rank, name));
  }
  std::span<const Bf16> output(int rank, const char* name) const {
    return values_of<Bf16>(outputs_[static_cast<size_t>(rank)].at(name));
  }
  std::span<const Bf16> old_prefix(int rank) const {
    return reset_ ? std::span<const Bf16>() : input(rank, "prefix");
  }
  reference::Blocks blocks(int rank) const {
    const Tensor& tensor = inputs_.get(rank, "blocks");
    return {values_of<Bf16>(tensor), tensor.shape[1] * kHidden, kHidden};
  }

  void add(int rank, std::string tensor, Rule rule, std::span<const Bf16> actual,
           std::span<const Bf16> expected) {
    rows_.push_back({rank, std::move(tensor), std::string(reference::name(rule)),
                     reference::compare(rule, actual, expected, kHidden)});
  }
  void add(int rank, std::string tensor, Rule rule, std::span<const float> actual,
           std::span<const float> expected) {
    rows_.push_back({rank, std::move(tensor), std::string(reference::name(rule)),
                     reference::compare(rule, actual, expected)});
  }

  /// The partials of `source`, [S, 7168], in the buffer of `holder`.
  std::span<const Bf16> slot(int holder, int source) const {
    const auto all = values_of<Bf16>(regions_[static_cast<size_t>(holder)].at("ar"));
    const size_t size = all.size() / kTp;
    return all.subspan(static_cast<size_t>(source) * size, size);
  }

  /// Elements of `columns` columns from `first` of every token.
  void copy_columns(std::span<const Bf16> from, int first, int columns,
                    std::vector<Bf16>& to) const {
    for (int token = 0; token < shape_.tokens; ++token) {
      const auto start = from.begin() + int64_t{token} * kHidden + first;
      to.insert(to.end(), start, start + columns);
    }
  }

  /// What reaches the sum of `holder`, [8, S, 7168]: its own buffer's slots, or (two-shot) for each
  /// column those of the column's owner.
  std::vector<Bf16> summed_partials(int holder) const {
    std::vector<Bf16> all;
    for (int source = 0; source < kTp; ++source) {
      for (int token = 0; token < shape_.tokens; ++token) {
        for (int owner = 0; owner < kTp; ++owner) {
          const auto row = slot(two_shot_ ? owner : holder, source);
          const auto start = row.begin() + int64_t{token} * kHidden + owner * kOwnColumns;
          all.insert(all.end(), start, start + kOwnColumns);
        }
      }
    }
    return all;
  }

  /// Stage o: what `rank` pushed is right where it is summed, and (one-shot) the same everywhere.
  void check_pushes(int rank) {
    partials_.push_back(
        reference::partials(shape_.tokens, input(rank, "core"), input(rank, "w_o")));
    if (!has_ar_) return;
    const std::vector<Bf16> summed = summed_partials(rank);
    const size_t size = summed.size() / kTp;
    add(rank, "ar", Rule::rounded_dot,
        std::span(summed).subspan(static_cast<size_t>(rank) * size, size), partials_.back());
    deltas_.push_back(reference::reduce(shape_.tokens, summed));
    std::vector<Bf16> there, here;
    if (two_shot_) {
      for (int owner = 0; owner < kTp; ++owner) {
        if (owner == rank) continue;
        copy_columns(slot(rank, owner), owner * kOwnColumns, kOwnColumns, there);
        copy_columns(deltas_.back(), owner * kOwnColumns, kOwnColumns, here);
      }
      return add(rank, "ar of the 7 other owners", Rule::exact, there, here);
    }
    for (int holder = 0; holder < kTp; ++holder) {
      if (holder == rank) continue;
      there.insert(there.end(), slot(holder, rank).begin(), slot(holder, rank).end());
      here.insert(here.end(), slot(rank, rank).begin(), slot(rank, rank).end());
    }
    add(rank, "ar at the 7 others", Rule::exact, there, here);
  }

  void check_stages(int rank) {
    const TensorMap& regions = regions_[static_cast<size_t>(rank)];
    const auto prefix = output(rank, "prefix");
    if (has_ar_) {
      add(rank, "prefix", Rule::exact, prefix,
          reference::next_prefix(old_prefix(rank), deltas_[static_cast<size_t>(rank)]));
    }
    const auto part = values_of<float>(regions.at("part"));
    add(rank, "part", Rule::fp32, part,
        reference::part(shape_, prefix, blocks(rank), input(rank, "ares_nw"),
                        input(rank, "ares_qk")));
    const auto wgt = values_of<float>(regions.at("wgt"));
    add(rank, "wgt", Rule::fp32, wgt, reference::gate(shape_, part));
    const auto mixed = reference::mix(shape_, wgt, prefix, blocks(rank));
    const auto msq = values_of<float>(regions.at("msq"));
    add(rank, "msq", Rule::fp32, msq, reference::mean_squares(shape_, mixed));
    add(rank, "x_out", Rule::rounded_dot, output(rank, "x_out"),
        reference::normed(shape_, mixed, msq, input(rank, "in_nw")));
  }

  /// The reference run from the inputs alone; it is the same on every rank.
  void check_end() {
    std::vector<Bf16> ar;
    for (const auto& partial : partials_) ar.insert(ar.end(), partial.begin(), partial.end());
    const auto prefix = reference::next_prefix(old_prefix(0), reference::reduce(shape_.tokens, ar));
    const auto part =
        reference::part(shape_, prefix, blocks(0), input(0, "ares_nw"), input(0, "ares_qk"));
    const auto mixed = reference::mix(shape_, reference::gate(shape_, part), prefix, blocks(0));
    const auto x =
        reference::normed(shape_, mixed, reference::mean_squares(shape_, mixed), input(0, "in_nw"));
    add(0, "prefix, end to end", Rule::end_to_end, output(0, "prefix"), prefix);
    add(0, "x_out, end to end", Rule::end_to_end, output(0, "x_out"), x);
  }

  const RankTensors& inputs_;
  const RankMaps& outputs_;
  const RankMaps& regions_;
  reference::AttnResShape shape_;
  bool reset_;
  bool two_shot_;
  bool has_ar_;  ///< nobody kept the words of a sentinel build: then `ar` is not there
  std::vector<std::vector<Bf16>> partials_;  ///< the reference's, by rank
  std::vector<std::vector<Bf16>> deltas_;    ///< the sums of what the kernel pushed, by rank
  std::vector<CheckRow> rows_;
};

}  // namespace

RankTensors random_attn_post_inputs(const BuildKey& key, uint64_t seed) {
  RankTensors inputs;
  uint64_t stream = mix_bits(seed);
  for (const InputSpec& spec : input_specs(key)) {
    for (int rank = 0; rank < (spec.own ? kTp : 1); ++rank) {
      stream = mix_bits(stream);
      TensorMap& into = spec.own ? inputs.ranks[static_cast<size_t>(rank)] : inputs.common;
      into.emplace(spec.name, random_tensor("bf16", spec.shape, spec.mean, spec.deviation, stream));
    }
  }
  return inputs;
}

void require_attn_post_inputs(const BuildKey& key, const RankTensors& inputs) {
  for (const InputSpec& spec : input_specs(key)) {
    for (int rank = 0; rank < kTp; ++rank) {
      const Tensor& tensor = inputs.get(rank, spec.name);
      std::vector<int64_t> expected = spec.shape;
      // More block rows than the key mixes are welcome: the rows beyond are not read.
      const bool more_blocks = std::string_view(spec.name) == "blocks" &&
                               tensor.shape.size() == 3 && tensor.shape[1] >= expected[1];
      if (more_blocks) expected[1] = tensor.shape[1];
      if (tensor.dtype == "bf16" && tensor.shape == expected) continue;
      throw Error(ErrorKind::user,
                  fmt::format("tensor '{}' of rank {} is {}, expected {}", spec.name, rank,
                              describe(tensor.dtype, tensor.shape), describe("bf16", spec.shape)),
                  fmt::format("the key is {}", key.text()));
    }
  }
}

std::vector<CheckRow> check_attn_post(const BuildKey& key, const RankTensors& inputs,
                                      const RankMaps& outputs, const RankMaps& regions) {
  return Checker(key, inputs, outputs, regions).run();
}

}  // namespace baton::builds::kimi_k3
