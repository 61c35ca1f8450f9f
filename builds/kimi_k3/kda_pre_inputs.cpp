#include "builds/kimi_k3/kda_pre_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "builds/kimi_k3/model.h"
#include "builds/random_tensors.h"
#include "runtime/base/error.h"

namespace baton::builds::kimi_k3 {
namespace {

constexpr int64_t kStateOfSlot = int64_t{kHeads} * kHeadDim * kHeadDim;
constexpr int32_t kNoSlot = 0x40000000;  ///< beyond every pool: must not be read

/// A tensor whose shape the key alone decides, and how its values are drawn.
struct InputSpec {
  const char* name;
  const char* dtype;
  std::vector<int64_t> shape;
  float mean, deviation;
};

std::vector<InputSpec> input_specs(const BuildKey& key) {
  const int64_t tokens = key.integer("tokens");
  constexpr float kNone = 0, kOne = 1, kNarrow = 0.1f;
  const auto dot_scale = [](int terms) { return 1 / std::sqrt(static_cast<float>(terms)); };
  std::vector<InputSpec> specs = {
      {"prefix", "bf16", {tokens, kHidden}, kNone, kOne},
      {"ares_nw", "bf16", {kHidden}, kOne, kNarrow},
      {"ares_qk", "bf16", {kHidden}, kNone, 0.02f},
      {"in_nw", "bf16", {kHidden}, kOne, kNarrow},
      {"w_in", "bf16", {kNProj, kHidden}, kNone, dot_scale(kHidden)},
      {"w_fb", "bf16", {kProj, kHeadDim}, kNone, dot_scale(kHeadDim)},
      {"conv_w", "f32", {kQkv, kConvTaps}, kNone, dot_scale(kConvTaps)},
      {"a_log", "f32", {kHeads}, 1.2f, 0.5f},  // the logarithm of about 1 .. 8
      {"dt_bias", "f32", {kProj}, kNone, kNarrow},
      {"on_w", "bf16", {kHeadDim}, kOne, kNarrow},
  };
  if (key.flag("delta")) specs.push_back({"delta", "bf16", {tokens, kHidden}, kNone, kOne});
  return specs;
}

[[noreturn]] void fail(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::user, what, hint);
}

/// Fails unless `right`; `expected` says what would be.
void require_tensor(const char* name, const Tensor& tensor, bool right,
                    const std::string& expected) {
  if (right) return;
  fail(fmt::format("tensor '{}' is {}, expected {}", name, describe(tensor.dtype, tensor.shape),
                   expected),
       "sizes come from the key's tokens, qlen, nblocks, write_idx and state_len");
}

bool is_rank(const Tensor& tensor, std::string_view dtype, size_t dimensions) {
  return tensor.dtype == dtype && tensor.shape.size() == dimensions;
}

/// Slot 0 is there even if no request has it: what reads padding goes there.
void require_slot(const char* name, const Tensor& pool) {
  if (pool.shape[0] > 0) return;
  fail(fmt::format("tensor '{}' is {}: a pool without a slot", name,
                   describe(pool.dtype, pool.shape)),
       "a pool has slot 0 at least, which padding is read from");
}

int64_t blocks_needed(const BuildKey& key) {
  return std::max(key.integer("nblocks"), key.integer("write_idx") + 1);
}

bool holds_channels(int64_t channels, int64_t entries, int64_t state_len) {
  return channels >= kQkv && entries >= state_len && entries < kQkv;
}

bool holds_states(const Tensor& rstate) {
  if (is_rank(rstate, "f32", 2)) return rstate.shape[1] >= kStateOfSlot;
  return is_rank(rstate, "f32", 4) && std::ranges::equal(std::span(rstate.shape).subspan(1),
                                                         std::array{kHeads, kHeadDim, kHeadDim});
}

void require_pools(const BuildKey& key, const RankTensors& inputs) {
  const int64_t tokens = key.integer("tokens"), state_len = key.integer("state_len");
  const Tensor& blocks = inputs.get(0, "blocks");
  require_tensor("blocks", blocks,
                 is_rank(blocks, "bf16", 3) && blocks.shape[0] == tokens &&
                     blocks.shape[1] >= blocks_needed(key) && blocks.shape[2] == kHidden,
                 fmt::format("bf16 [{}, {} or more, {}]", tokens, blocks_needed(key), kHidden));
  const Tensor& conv = inputs.get(0, "conv_st");
  require_tensor(
      "conv_st", conv,
      is_rank(conv, "bf16", 3) && (holds_channels(conv.shape[1], conv.shape[2], state_len) ||
                                   holds_channels(conv.shape[2], conv.shape[1], state_len)),
      fmt::format("bf16 [slots, {0} or more, {1} or more] (channel-major) or [slots, "
                  "{1} or more, {0} or more] (entry-major)",
                  kQkv, state_len));
  require_slot("conv_st", conv);
  const Tensor& rstate = inputs.get(0, "rstate");
  require_tensor("rstate", rstate, holds_states(rstate),
                 fmt::format("f32 [slots, {} or more] or [slots, {}, {}, {}]", kStateOfSlot, kHeads,
                             kHeadDim, kHeadDim));
  require_slot("rstate", rstate);
}

/// Every slot lies in its pool, and no two requests have one in common.
void require_slots(const BuildKey& key, const RankTensors& inputs) {
  const int64_t qlen = key.integer("qlen"), requests = key.integer("tokens") / qlen;
  const Tensor& table = inputs.get(0, "st_idx");
  require_tensor("st_idx", table,
                 is_rank(table, "i32", 2) && table.shape[0] == requests && table.shape[1] >= qlen,
                 fmt::format("i32 [{}, {} or more]", requests, qlen));
  const auto slots = values_of<int32_t>(table);
  std::map<int32_t, int64_t> owners;
  for (int64_t request = 0; request < requests; ++request) {
    for (int64_t token = 0; token < qlen; ++token) {
      const int32_t slot = slots[static_cast<size_t>(request * table.shape[1] + token)];
      if (slot <= 0) continue;
      const std::string place = fmt::format("st_idx[{}, {}] is slot {}", request, token, slot);
      for (const char* pool : {"conv_st", "rstate"}) {
        const int64_t count = inputs.get(0, pool).shape[0];
        if (slot < count || (token > 0 && pool == std::string_view("conv_st"))) continue;
        fail(fmt::format("{}, but {} has {} slots", place, pool, count),
             "slots count from 0; 0 and less are padding");
      }
      const auto [owner, is_new] = owners.emplace(slot, request);
      if (is_new || owner->second == request) continue;
      fail(fmt::format("{}, which request {} has too", place, owner->second),
           "requests share no slot: each writes its own states");
    }
  }
}

void require_accepted(const BuildKey& key, const RankTensors& inputs) {
  const int64_t qlen = key.integer("qlen"), requests = key.integer("tokens") / qlen;
  const Tensor& tensor = inputs.get(0, "num_acc");
  require_tensor("num_acc", tensor, is_rank(tensor, "i32", 1) && tensor.shape[0] == requests,
                 fmt::format("i32 [{}]", requests));
  const auto accepted = values_of<int32_t>(tensor);
  for (size_t request = 0; request < accepted.size(); ++request) {
    if (accepted[request] >= 1 && accepted[request] <= qlen) continue;
    fail(fmt::format("num_acc[{}] is {}, expected 1 .. {}", request, accepted[request], qlen),
         "it counts the tokens of the last step that were accepted, at most qlen");
  }
}

/// Pads what a request of `padded` has; gives the others slots of their own, in a random order.
Tensor random_slots(const BuildKey& key, uint64_t stream, const KdaPreOptions& options) {
  const int64_t qlen = key.integer("qlen"), tokens = key.integer("tokens");
  const int64_t width = qlen + options.table_padding;
  std::vector<int32_t> pool;
  for (int64_t slot = 1; slot <= tokens + options.spare_slots; ++slot) {
    pool.push_back(static_cast<int32_t>(slot));
  }
  for (size_t i = pool.size(); i > 1; --i) std::swap(pool[i - 1], pool[mix_bits(stream + i) % i]);
  std::vector<int32_t> slots(static_cast<size_t>(tokens / qlen * width), kNoSlot);
  for (int64_t t = 0; t < tokens; ++t) {
    slots[static_cast<size_t>(t / qlen * width + t % qlen)] = pool[static_cast<size_t>(t)];
  }
  for (size_t i = 0; i < options.padded.size(); ++i) {
    const auto row = slots.begin() + options.padded[i] * width;
    std::fill(row, row + qlen, i % 2 == 0 ? 0 : -1);
  }
  return tensor_of("i32", {tokens / qlen, width}, slots);
}

Tensor random_accepted(const BuildKey& key, uint64_t stream, const KdaPreOptions& options) {
  const auto qlen = static_cast<uint64_t>(key.integer("qlen"));
  std::vector<int32_t> accepted(options.num_acc.begin(), options.num_acc.end());
  if (accepted.empty()) {
    for (uint64_t q = 0; q < static_cast<uint64_t>(key.integer("tokens")) / qlen; ++q) {
      accepted.push_back(static_cast<int32_t>(1 + mix_bits(stream + q) % qlen));
    }
  }
  return tensor_of("i32", {static_cast<int64_t>(accepted.size())}, accepted);
}

}  // namespace

ConvStrides conv_strides(const Tensor& conv_st) {
  const int64_t rows = conv_st.shape[1], columns = conv_st.shape[2];
  if (rows >= kQkv) return {rows * columns, columns, 1};
  return {rows * columns, 1, columns};
}

int64_t state_stride(const Tensor& rstate) {
  return rstate.shape.size() == 2 ? rstate.shape[1] : kStateOfSlot;
}

RankTensors random_kda_pre_inputs(const BuildKey& key, uint64_t seed,
                                  const KdaPreOptions& options) {
  const int64_t tokens = key.integer("tokens"), state_len = key.integer("state_len");
  const int64_t slots = 1 + tokens + options.spare_slots;
  const int64_t rows = (options.entry_major ? state_len : kQkv) + options.slot_padding;
  const int64_t columns = (options.entry_major ? kQkv : state_len) + options.row_padding;
  std::vector<InputSpec> specs = input_specs(key);
  specs.push_back(
      {"blocks", "bf16", {tokens, blocks_needed(key) + options.spare_blocks, kHidden}, 0, 1});
  specs.push_back({"conv_st", "bf16", {slots, rows, columns}, 0, 1});
  specs.push_back({"rstate", "f32", {slots, kStateOfSlot + options.state_padding}, 0, 0.2f});
  RankTensors inputs;
  uint64_t stream = mix_bits(seed);
  for (const InputSpec& spec : specs) {
    stream = mix_bits(stream);
    inputs.common.emplace(spec.name,
                          random_tensor(spec.dtype, spec.shape, spec.mean, spec.deviation, stream));
  }
  inputs.common.emplace("st_idx", random_slots(key, mix_bits(stream + 1), options));
  inputs.common.emplace("num_acc", random_accepted(key, mix_bits(stream + 2), options));
  return inputs;
}

RankTensors random_kda_pre_inputs(const BuildKey& key, uint64_t seed) {
  return random_kda_pre_inputs(key, seed, {});
}

void require_kda_pre_inputs(const BuildKey& key, const RankTensors& inputs) {
  for (const InputSpec& spec : input_specs(key)) {
    const Tensor& tensor = inputs.get(0, spec.name);
    require_tensor(spec.name, tensor, tensor.dtype == spec.dtype && tensor.shape == spec.shape,
                   describe(spec.dtype, spec.shape));
  }
  require_pools(key, inputs);
  require_slots(key, inputs);
  require_accepted(key, inputs);
}

}  // namespace baton::builds::kimi_k3
