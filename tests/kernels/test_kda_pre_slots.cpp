// kda_pre's slots: padding in every place, every number of accepted tokens, requests that move in
// the batch, and a decode with rejections against one that never speculated.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "builds/kimi_k3/kda_pre_run.h"
#include "builds/kimi_k3/model.h"
#include "builds/kimi_k3/reference/attn_res.h"
#include "builds/kimi_k3/reference/kda_decode.h"
#include "builds/random_tensors.h"
#include "tests/kernels/kda_pre_run.h"

namespace baton::tests {
namespace {

using builds::RankTensors;
using builds::tensor_of;
using builds::values_of;
using builds::kimi_k3::random_kda_pre_inputs;
using reference::Bf16;
using reference::Rule;

const std::vector<std::string> kNone;

void poke(RankTensors& inputs, const char* name, size_t index, auto value) {
  std::memcpy(inputs.common.at(name).bytes.data() + index * sizeof value, &value, sizeof value);
}

/// One code object for all cases of a key.
struct Kernel {
  explicit Kernel(const std::string& fields, const std::string& chip = "gfx950")
      : key(builds::complete_key("kda_pre:" + fields, chip)),
        rank(key, builds::build(key).code_object, {.threads = 2}) {
    attend(rank.emulator(), rank.collective());
  }
  std::vector<std::string> run(const RankTensors& inputs, int steps = 1) {
    return run_kda_pre(rank, key, inputs, steps);
  }
  BuildKey key;
  EmulatedRanks rank;
};

TEST_CASE("a padding request reads zeros, gives zeros and writes nothing") {
  Kernel kernel("tokens=8,qlen=2,nblocks=1,state_len=5");
  SECTION("some requests, slot 0 and negative ones") {
    const RankTensors inputs =
        random_kda_pre_inputs(kernel.key, 1, {.padded = {0, 2}, .num_acc = {2, 1, 1, 2}});
    CHECK(kernel.run(inputs) == kNone);
    const auto core = kernel.rank.collective().outputs(0).at("core_out");
    const auto values = values_of<Bf16>(core);
    for (size_t i = 0; i < 2 * 1536; ++i) {
      REQUIRE((values[i] & 0x7FFF) == 0);
      REQUIRE((values[4 * 1536 + i] & 0x7FFF) == 0);
    }
  }
  SECTION("all of them") {
    CHECK(kernel.run(random_kda_pre_inputs(kernel.key, 2, {.padded = {3, 1, 0, 2}})) == kNone);
  }
  SECTION("some slots of a request") {
    // The conv slot padding and the first state not; the other way round; a later token's alone.
    RankTensors inputs = random_kda_pre_inputs(kernel.key, 3, {.num_acc = {2, 2, 1, 2}});
    poke(inputs, "st_idx", 0, int32_t{0});
    poke(inputs, "st_idx", 3, int32_t{-7});
    poke(inputs, "st_idx", 5, INT32_MIN);
    CHECK(kernel.run(inputs) == kNone);
  }
  SECTION("a NaN gate row reaches a padding request's core") {
    // Weight row 4608 + 5 makes g2 of head 0, column 5.
    RankTensors inputs = random_kda_pre_inputs(kernel.key, 4, {.padded = {1}});
    for (size_t k = 0; k < 7168; ++k) poke(inputs, "w_in", 4613u * 7168 + k, Bf16{0x7FC0});
    CHECK(kernel.run(inputs) == kNone);
  }
}

TEST_CASE("every number of accepted tokens picks its window and its state") {
  Kernel one("tokens=8,qlen=8,nblocks=1");
  for (const int accepted : {1, 2, 5, 8}) {
    INFO(accepted << " accepted");
    CHECK(one.run(random_kda_pre_inputs(one.key, 1, {.num_acc = {accepted}})) == kNone);
  }
  Kernel four("tokens=16,qlen=4,nblocks=1,state_len=9");
  CHECK(four.run(random_kda_pre_inputs(four.key, 1, {.num_acc = {4, 1, 3, 2}})) == kNone);
}

TEST_CASE("requests that move in the batch find their own states, three steps in a row") {
  Kernel kernel("tokens=8,qlen=2,nblocks=2,write_idx=2");
  CHECK(kernel.run(random_kda_pre_inputs(kernel.key, 5, {.padded = {1}}), 3) == kNone);
}

TEST_CASE("NaN, Inf and huge values go where arithmetic takes them, and no further") {
  Kernel kernel("tokens=4,qlen=2,nblocks=1");
  RankTensors inputs = random_kda_pre_inputs(kernel.key, 6, {.num_acc = {1, 2}});
  SECTION("a NaN in a token's prefix") { poke(inputs, "prefix", 7168 + 9, Bf16{0x7FC0}); }
  SECTION("an Inf in a state") {
    const auto slot = values_of<int32_t>(inputs.get(0, "st_idx"))[0];
    poke(inputs, "rstate", static_cast<size_t>(slot * inputs.get(0, "rstate").shape[1] + 300),
         std::numeric_limits<float>::infinity());
  }
  SECTION("a row whose squares overflow gives x = 0") {
    for (size_t c = 0; c < 7168; ++c) poke(inputs, "prefix", 2 * 7168 + c, Bf16{0x7F00});
  }
  SECTION("decays that end at their bounds") {
    poke(inputs, "a_log", 3, 80.0f);
    poke(inputs, "a_log", 4, -80.0f);
  }
  CHECK(kernel.run(inputs) == kNone);
}

constexpr int kRequests = 3, kQlen = 4, kSteps = 6, kTokens = kRequests * kQlen;
/// Tokens that each sequence's step keeps.
const int kKept[kSteps][kRequests] = {{4, 1, 2}, {1, 3, 4}, {3, 4, 1},
                                      {2, 1, 1}, {1, 2, 3}, {4, 2, 2}};

/// A token's rows, as the layer's launch gets them.
struct Token {
  std::vector<Bf16> prefix, delta, block;
};

/// Sequences that a speculative decode on the kernel and one without speculation both follow.
class Decode {
 public:
  Decode()
      : kernel_("tokens=12,qlen=4,nblocks=1"),
        inputs_(random_kda_pre_inputs(kernel_.key, kSeed)),
        sequences_(kRequests) {
    const auto table = values_of<int32_t>(inputs_.get(0, "st_idx"));
    slots_.assign(table.begin(), table.end());
    for (int s = 0; s < kRequests; ++s) begin(s);
  }

  /// One verify: the drafts' first tokens are kept, the others are thrown away.
  void step(int step) {
    std::vector<Token> batch(kTokens);
    for (Token& token : batch) token = draw();
    place(step, batch);
    const auto result =
        builds::run_step(kernel_.rank.collective(), kernel_.key, inputs_, /*layer=*/3);
    CHECK(failures_of(builds::check_step(kernel_.key, inputs_, result), step) == kNone);
    for (const char* pool : {"conv_st", "rstate"}) {
      inputs_.common[pool] = result.outputs[0].at(pool);
    }
    const auto core = values_of<Bf16>(result.outputs[0].at("core_out"));
    for (int s = 0; s < kRequests; ++s) {
      for (int j = 0; j < kKept[step][s]; ++j) {
        const int row = request_of(s, step) * kQlen + j;
        const auto decoded = decode(batch[static_cast<size_t>(row)], s);
        INFO("step " << step << ", sequence " << s << ", token " << j);
        CHECK(reference::compare(Rule::kda_end_to_end,
                                 core.subspan(static_cast<size_t>(row) * 1536, 1536), decoded, 1536)
                  .passed);
      }
      compare_states(step, s);
    }
  }

 private:
  static constexpr uint64_t kSeed = 77;

  /// The batch's order changes with every step.
  static int request_of(int sequence, int step) { return (sequence + step) % kRequests; }
  static int kept_before(int step, int sequence) {
    return step == 0 ? 1 : kKept[step - 1][sequence];
  }
  int32_t slot(int sequence, int j) const {
    return slots_[static_cast<size_t>(sequence * kQlen + j)];
  }
  std::span<const Bf16> weight(const char* name) const {
    return values_of<Bf16>(inputs_.get(0, name));
  }
  std::span<const float> floats(const char* name) const {
    return values_of<float>(inputs_.get(0, name));
  }

  /// A sequence's past is what its first slot holds.
  void begin(int s) {
    reference::KdaSequence& sequence = sequences_[static_cast<size_t>(s)];
    const auto state = state_of(slot(s, 0));
    sequence.state.assign(state.begin(), state.end());
    for (int c = 0; c < 4608; ++c) {
      for (int e = 0; e < 3; ++e) {
        sequence.inputs[static_cast<size_t>(c)][static_cast<size_t>(e)] =
            conv_entry(slot(s, 0), c, e);
      }
    }
  }

  std::span<const float> state_of(int32_t slot) const {
    const Tensor& pool = inputs_.get(0, "rstate");
    return values_of<float>(pool).subspan(static_cast<size_t>(slot * pool.shape[1]), 12 * 16384);
  }
  Bf16 conv_entry(int32_t slot, int channel, int entry) const {
    const Tensor& pool = inputs_.get(0, "conv_st");
    const auto strides = builds::kimi_k3::conv_strides(pool);
    return values_of<Bf16>(pool)[static_cast<size_t>(
        slot * strides.slot + channel * strides.channel + entry * strides.entry)];
  }

  Token draw() {
    const auto row = [&] {
      std::vector<Bf16> values(7168);
      for (Bf16& value : values) value = reference::to_bf16(normal_(random_));
      return values;
    };
    return {row(), row(), row()};
  }

  void place(int step, const std::vector<Token>& batch) {
    std::vector<Bf16> prefix, delta, blocks;
    for (const Token& token : batch) {
      prefix.insert(prefix.end(), token.prefix.begin(), token.prefix.end());
      delta.insert(delta.end(), token.delta.begin(), token.delta.end());
      blocks.insert(blocks.end(), token.block.begin(), token.block.end());
    }
    std::vector<int32_t> table(kTokens), accepted(kRequests);
    for (int s = 0; s < kRequests; ++s) {
      const int request = request_of(s, step);
      accepted[static_cast<size_t>(request)] = kept_before(step, s);
      for (int j = 0; j < kQlen; ++j) {
        table[static_cast<size_t>(request * kQlen + j)] = slot(s, j);
      }
    }
    inputs_.common["prefix"] = tensor_of("bf16", {kTokens, 7168}, prefix);
    inputs_.common["delta"] = tensor_of("bf16", {kTokens, 7168}, delta);
    inputs_.common["blocks"] = tensor_of("bf16", {kTokens, 1, 7168}, blocks);
    inputs_.common["st_idx"] = tensor_of("i32", {kRequests, kQlen}, table);
    inputs_.common["num_acc"] = tensor_of("i32", {kRequests}, accepted);
  }

  std::vector<Bf16> decode(const Token& token, int s) {
    const reference::AttnResShape shape{1, 1, kernel_.key.number("eps"),
                                        kernel_.key.number("out_eps")};
    const auto prefix = reference::next_prefix(token.prefix, token.delta);
    const reference::Blocks blocks{token.block, 7168, 7168};
    const auto wgt = reference::gate(
        shape, reference::part(shape, prefix, blocks, weight("ares_nw"), weight("ares_qk")));
    const auto mixed = reference::mix(shape, wgt, prefix, blocks);
    const auto x =
        reference::normed(shape, mixed, reference::mean_squares(shape, mixed), weight("in_nw"));
    const reference::KdaWeights weights{weight("w_in"),
                                        weight("w_fb"),
                                        floats("conv_w"),
                                        floats("a_log"),
                                        floats("dt_bias"),
                                        weight("on_w"),
                                        kernel_.key.number("onorm_eps"),
                                        kernel_.key.number("lower_bound")};
    return reference::decode_token(weights, x, sequences_[static_cast<size_t>(s)]);
  }

  /// What the kernel left for the sequence's next step is what the plain decode has.
  void compare_states(int step, int s) const {
    INFO("step " << step << ", sequence " << s);
    const reference::KdaSequence& sequence = sequences_[static_cast<size_t>(s)];
    const int last = kKept[step][s] - 1;
    const std::vector<float> state(sequence.state.begin(), sequence.state.end());
    CHECK(reference::compare(Rule::kda_end_to_end, state_of(slot(s, last)), state).passed);
    std::vector<Bf16> left, expected;
    for (int c = 0; c < 4608; ++c) {
      for (int e = 0; e < 3; ++e) {
        left.push_back(conv_entry(slot(s, 0), c, last + e));
        expected.push_back(sequence.inputs[static_cast<size_t>(c)][static_cast<size_t>(e)]);
      }
    }
    CHECK(reference::compare(Rule::kda_end_to_end, left, expected, expected.size()).passed);
  }

  Kernel kernel_;
  RankTensors inputs_;
  std::vector<int32_t> slots_;
  std::vector<reference::KdaSequence> sequences_;
  std::mt19937 random_{kSeed};
  std::normal_distribution<float> normal_{0, 1};
};

TEST_CASE("six steps with rejected drafts leave the states of a decode that never speculated") {
  Decode decode;
  for (int step = 0; step < kSteps; ++step) decode.step(step);
}

}  // namespace
}  // namespace baton::tests
