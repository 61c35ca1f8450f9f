// The batched reference of kda_pre against cases worked out by hand, and against one that decodes
// token by token and never speculates.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "builds/kimi_k3/reference/compare.h"
#include "builds/kimi_k3/reference/kda_decode.h"
#include "builds/kimi_k3/reference/kda_pre.h"

namespace baton::reference {
namespace {

constexpr Bf16 kOne = 0x3F80, kTwo = 0x4000, kHalf = 0x3F00;
using Ints = std::vector<int32_t>;
using Bfs = std::vector<Bf16>;
using Floats = std::vector<float>;

Bfs bf16s(std::initializer_list<float> values) {
  Bfs result;
  for (float value : values) result.push_back(to_bf16(value));
  return result;
}

TEST_CASE("project: a column is the dot of its weight row") {
  Bfs x(2 * 7168), w_in(size_t{6288} * 7168);
  x[0] = kOne, x[7167] = kTwo;  // token 0
  x[7168 + 1] = kHalf;          // token 1
  w_in[0] = to_bf16(3.0f), w_in[7167] = to_bf16(0.25f);
  w_in[6287u * 7168 + 1] = to_bf16(-4.0f);
  // 1 + 2^-8 lies between two bf16: the even one is 1.
  w_in[5u * 7168] = kOne, w_in[5u * 7168 + 7167] = to_bf16(0.001953125f);
  const Bfs proj = project(2, x, w_in);
  REQUIRE(proj.size() == 2 * 6288);
  CHECK(to_float(proj[0]) == 3.5f);
  CHECK(to_float(proj[5]) == 1.0f);
  CHECK(to_float(proj[6287]) == 0.0f);
  CHECK(to_float(proj[6288]) == 0.0f);
  CHECK(to_float(proj[2 * 6288 - 1]) == -2.0f);
}

/// One request of two tokens whose channel 1 has taps 1, 2, 3, 4, entries 9, 1, 2, 3 in slot 1 and
/// inputs 5 and 6; large sums, so that silu is the identity.
struct ConvCase {
  KdaShape shape{.tokens = 2, .qlen = 2, .state_len = 4, .onorm_eps = 0, .lower_bound = 0};
  Bfs proj = Bfs(2 * kProjColumns), pool = Bfs(2 * 4 * kConvChannels, 0x4000);
  Floats conv_w = Floats(4 * kConvChannels);

  ConvCase() {
    proj[1] = to_bf16(5.0f), proj[kProjColumns + 1] = to_bf16(6.0f);
    for (size_t i = 0; i < 4; ++i) conv_w[4 + i] = static_cast<float>(i + 1);
    const Bfs entries = bf16s({9, 1, 2, 3});
    for (int64_t e = 0; e < 4; ++e) entry(1, e) = entries[static_cast<size_t>(e)];
  }
  ConvPool<Bf16> whole() { return {pool, 4 * kConvChannels, 4, 1}; }
  Bf16& entry(int64_t slot, int64_t e) { return whole().at(slot, 1, e); }

  Floats outputs(const SlotTable& table) {
    const Bfs conv = convolve(shape, proj, conv_w, table, {pool, 4 * kConvChannels, 4, 1});
    return {to_float(conv[1]), to_float(conv[kConvChannels + 1])};
  }
  Floats state_after(const SlotTable& table) {
    update_conv_pool(shape, proj, table, whole());
    Floats state;
    for (int64_t e = 0; e < 4; ++e) state.push_back(to_float(entry(1, e)));
    return state;
  }
};

TEST_CASE("conv: window, taps in order, and the new state") {
  const Ints slots = {1, 7};
  SECTION("one token accepted: entries 0 .. 2") {
    const Ints accepted = {1};
    CHECK(ConvCase().outputs({slots, 2, accepted}) == Floats{9 + 2 + 6 + 20, 1 + 4 + 15 + 24});
    CHECK(ConvCase().state_after({slots, 2, accepted}) == Floats{1, 2, 5, 6});
  }
  SECTION("two: entries 1 .. 3") {
    const Ints accepted = {2};
    CHECK(ConvCase().outputs({slots, 2, accepted}) == Floats{1 + 4 + 9 + 20, 2 + 6 + 15 + 24});
    CHECK(ConvCase().state_after({slots, 2, accepted}) == Floats{2, 3, 5, 6});
  }
  SECTION("a padding slot has no past and no state") {
    const Ints padding = {GENERATE(0, -3), 1}, accepted = {2};
    CHECK(ConvCase().outputs({padding, 2, accepted}) == Floats{20, 15 + 24});
    ConvCase c;
    CHECK(c.state_after({padding, 2, accepted}) == Floats{9, 1, 2, 3});
    CHECK(c.pool == ConvCase().pool);
  }
}

TEST_CASE("conv: silu, rounded to bf16") {
  ConvCase c;
  const Ints slots = {0, 0}, accepted = {1};
  c.conv_w[7] = 1;
  c.proj[1] = to_bf16(-1.0f), c.proj[kProjColumns + 1] = 0;
  c.conv_w[6] = 0;
  // silu(-1) = -0.268941; the nearest of bf16's steps of 2^-9 is 138.
  CHECK(c.outputs({slots, 2, accepted}) == Floats{-138.0f / 512, 0});
}

TEST_CASE("gates: beta and decay") {
  KdaShape shape{.tokens = 1, .qlen = 1, .state_len = 3, .onorm_eps = 0, .lower_bound = -5};
  Bfs proj(kProjColumns), w_fb(size_t{kPartColumns} * 128);
  Floats a_log(kHeads), dt_bias(kPartColumns);
  proj[kBetaColumn + 3] = to_bf16(1.0f);
  CHECK(betas(1, proj)[3] == Approx(0.7310586));
  CHECK(betas(1, proj)[4] == 0.5f);

  dt_bias[1] = std::log(3.0f);    // sigmoid is 3 / 4
  dt_bias[129] = std::log(3.0f);  // of head 1, whose rate is 2: 9 / 10
  a_log[1] = std::log(2.0f);
  proj[kFaColumn] = kOne, proj[kFaColumn + 127] = kOne;
  w_fb[2 * 128] = kOne;  // 1 + 2^-9 is rounded to 1 before the bias comes
  w_fb[2 * 128 + 127] = to_bf16(0.001953125f);
  dt_bias[2] = -1;
  const Floats decay = decays(shape, proj, w_fb, a_log, dt_bias);
  CHECK(decay[0] == Approx(std::exp(-2.5)));
  CHECK(decay[1] == Approx(std::exp(-3.75)));
  CHECK(decay[129] == Approx(std::exp(-4.5)));
  CHECK(decay[2] == decay[0]);
}

TEST_CASE("q and k are rows of length 1, q shorter by 128^-0.5") {
  Bfs conv(kConvChannels, kOne);
  const Floats qk = normalised(1, conv);
  REQUIRE(qk.size() == 2 * kPartColumns);
  CHECK(qk[0] == Approx(1 / 128.0));
  CHECK(qk[kPartColumns] == Approx(std::sqrt(1 / 128.0)));
  // The epsilon under the root: 128 values of 2^-10 have squares of 2^-13.
  const Floats small = normalised(1, Bfs(kConvChannels, to_bf16(std::ldexp(1.0f, -10))));
  CHECK(small[kPartColumns] ==
        Approx(std::ldexp(1.0, -10) / std::sqrt(std::ldexp(1.0, -13) + 1e-6)).epsilon(1e-6));
  CHECK(normalised(1, Bfs(kConvChannels))[0] == 0);
}

/// One request of two tokens: k = q = column 5, v = 2 in row 3 of head 1, beta 1/2, decay 1, then
/// 1/2.
struct RecurrenceCase {
  KdaShape shape{.tokens = 2, .qlen = 2, .state_len = 4, .onorm_eps = 0, .lower_bound = 0};
  Bfs conv = Bfs(2 * kConvChannels);
  Floats qk = Floats(4 * kPartColumns), beta = Floats(2 * kHeads, 0.5f),
         decay = Floats(2 * kPartColumns, 1.0f), pool = Floats(4 * (kStateOfSlot + 8), 1.5f);

  RecurrenceCase() {
    for (size_t t = 0; t < 2; ++t) {
      conv[t * kConvChannels + 2 * kPartColumns + 128 + 3] = kTwo;
      qk[2 * t * kPartColumns + 128 + 5] = qk[(2 * t + 1) * kPartColumns + 128 + 5] = 1;
    }
    std::fill(decay.begin() + kPartColumns, decay.end(), 0.5f);
    for (int64_t slot : {2, 3}) std::ranges::fill(states().slot(slot), 0.0f);
  }
  StatePool states() { return {pool, kStateOfSlot + 8}; }
  float element(int64_t slot) { return states().slot(slot)[16384 + 3 * 128 + 5]; }
  Floats o(const Ints& slots, const Ints& accepted) {
    const Bfs all = recur(shape, {qk, conv, beta, decay}, {slots, 2, accepted}, states());
    return {to_float(all[128 + 3]), to_float(all[kPartColumns + 128 + 3])};
  }
};

TEST_CASE("recurrence: the delta rule, token by token, and where its states go") {
  // u = (2 - 0) / 2 = 1: S = 1. Then S = 1/2, u = (2 - 1/2) / 2 = 3/4: S = 5/4.
  RecurrenceCase c;
  SECTION("both slots stored") {
    CHECK(c.o({2, 3}, {1}) == Floats{1, 1.25f});
    CHECK(c.element(2) == 1);
    CHECK(c.element(3) == 1.25f);
  }
  SECTION("two accepted: the state of the second slot is the start") {
    c.states().slot(3)[16384 + 3 * 128 + 5] = 4;
    CHECK(c.o({2, 3}, {2}) == Floats{4 + (2.0f - 4) / 2, 1.5f + (2 - 1.5f) / 2});
    CHECK(c.element(2) == 3);
    CHECK(c.element(3) == 1.75f);
  }
  SECTION("a token whose slot is padding keeps its state to itself") {
    CHECK(c.o({2, 0}, {1}) == Floats{1, 1.25f});
    CHECK(c.element(2) == 1);
    CHECK(c.element(3) == 0);
  }
  SECTION("a request that starts from padding has o = 0 and stores nothing") {
    const Floats before = c.pool;
    CHECK(c.o({GENERATE(0, -1), 3}, {1}) == Floats{0, 0});
    CHECK(c.pool == before);
  }
  SECTION("a slot named twice keeps the later state") {
    CHECK(c.o({2, 2}, {1}) == Floats{1, 1.25f});
    CHECK(c.element(2) == 1.25f);
  }
  CHECK(c.element(0) == 1.5f);
  CHECK(c.element(1) == 1.5f);
  CHECK(c.pool[kStateOfSlot] == 1.5f);
}

TEST_CASE("recurrence: the decay belongs to a column of k") {
  RecurrenceCase c;
  std::ranges::fill(c.states().slot(2), 8.0f);
  std::ranges::fill(c.beta, 0.0f);
  c.decay[128 + 5] = 0.25f;
  CHECK(c.o({2, 3}, {1}) == Floats{2, 1});
  CHECK(c.states().slot(2)[16384 + 3 * 128 + 6] == 8);
  CHECK(c.states().slot(2)[5] == 8);  // another head's
}

TEST_CASE("norm: eight chunks' squares, the weight, the gate") {
  KdaShape shape{.tokens = 1, .qlen = 1, .state_len = 3, .onorm_eps = 0, .lower_bound = 0};
  Bfs o(kPartColumns, kTwo), proj(kProjColumns), on_w(kHeadDim, kOne);
  Floats onrm = chunk_squares(shape, o);
  REQUIRE(onrm == Floats(kHeads * kChunks, 64.0f));
  on_w[1] = kTwo;
  proj[kG2Column + 2] = to_bf16(1000.0f), proj[kG2Column + 3] = to_bf16(-1000.0f);
  proj[kG2Column + 128] = 0x7FC0;  // a NaN gate reaches its own element alone
  const Bfs core = gated_norm(shape, o, onrm, proj, on_w);
  CHECK(to_float(core[0]) == 0.5f);  // 2 / sqrt(512 / 128) / 2
  CHECK(to_float(core[1]) == 1.0f);
  CHECK(to_float(core[2]) == 1.0f);
  CHECK(to_float(core[3]) == 0.0f);
  CHECK(std::isnan(to_float(core[128])));
  CHECK(to_float(core[129]) == 1.0f);

  shape.onorm_eps = 12;  // 4 + 12
  CHECK(to_float(gated_norm(shape, o, onrm, proj, on_w)[0]) == 0.25f);
  onrm[0] = 64 + 128 * 21;  // 4 + 21 + 12 = 37 in head 0 alone
  CHECK(to_float(gated_norm(shape, o, onrm, proj, on_w)[0]) ==
        to_float(to_bf16(1 / std::sqrt(37.0f))));
  CHECK(to_float(gated_norm(shape, o, onrm, proj, on_w)[130]) == 0.25f);
}

TEST_CASE("chunk squares: request, head, token, chunk") {
  KdaShape shape{.tokens = 4, .qlen = 2, .state_len = 4, .onorm_eps = 0, .lower_bound = 0};
  Bfs o(4 * kPartColumns);
  o[3 * kPartColumns + 5 * 128 + 16 * 6 + 15] = to_bf16(3.0f);  // request 1, token 1, head 5
  Floats expected(4 * kHeads * kChunks);
  expected[static_cast<size_t>(((1 * kHeads + 5) * 2 + 1) * kChunks + 6)] = 9;
  CHECK(chunk_squares(shape, o) == expected);
}

constexpr uint32_t kSeed = 20240612;

Bfs draw(std::mt19937& random, size_t count, float deviation) {
  std::normal_distribution<float> normal(0, deviation);
  Bfs values(count);
  for (Bf16& value : values) value = to_bf16(normal(random));
  return values;
}

/// Random weights and the two references that use them.
struct Layer {
  std::mt19937 random{kSeed};
  Bfs w_in = draw(random, size_t{6288} * 7168, 0.0118f), w_fb = draw(random, 1536 * 128, 0.0884f),
      on_w = draw(random, 128, 1);
  Floats conv_w = Floats(4608 * 4), a_log = Floats(12), dt_bias = Floats(1536);
  KdaShape shape{.tokens = 6, .qlen = 3, .state_len = 5, .onorm_eps = 1e-5f, .lower_bound = -5};

  Layer() {
    std::normal_distribution<float> normal(0, 1);
    for (float& value : conv_w) value = 0.5f * normal(random);
    for (float& value : a_log) value = 1.2f + 0.5f * normal(random);
    for (float& value : dt_bias) value = 0.1f * normal(random);
  }
  KdaWeights weights() const {
    return {w_in, w_fb, conv_w, a_log, dt_bias, on_w, shape.onorm_eps, shape.lower_bound};
  }
  /// One batched launch on x [6, 7168]; returns core.
  Bfs launch(const Bfs& x, const SlotTable& table, ConvPool<Bf16> conv, StatePool states) const {
    const Bfs proj = project(shape.tokens, x, w_in);
    const Bfs out = convolve(shape, proj, conv_w, table,
                             {conv.data, conv.slot_stride, conv.channel_stride, conv.entry_stride});
    update_conv_pool(shape, proj, table, conv);
    const Floats qk = normalised(shape.tokens, out), beta = betas(shape.tokens, proj),
                 decay = decays(shape, proj, w_fb, a_log, dt_bias);
    const Bfs o = recur(shape, {qk, out, beta, decay}, table, states);
    return gated_norm(shape, o, chunk_squares(shape, o), proj, on_w);
  }
};

double l2(const Floats& actual, const Floats& expected) {
  return compare(Rule::recurrent, actual, expected).relative_l2;
}

TEST_CASE("decode with rejected tokens leaves what decode without speculation leaves") {
  INFO("seed " << kSeed);
  Layer layer;
  constexpr int64_t kConvSlot = 5 * 4608;
  Bfs conv(7 * kConvSlot);
  Floats states(size_t{7} * kStateOfSlot);
  const ConvPool<Bf16> conv_pool{conv, kConvSlot, 1, 4608};  // entry-major
  const StatePool state_pool{states, kStateOfSlot};
  const Ints slots = {5, 2, 6, 1, 4, 3};
  KdaSequence sequences[2];
  // Tokens that each request's step keeps, of its three.
  const int kept[][2] = {{3, 1}, {1, 2}, {2, 3}, {1, 1}};
  Ints accepted = {1, 1};
  for (const auto& keep : kept) {
    const Bfs x = draw(layer.random, 6 * 7168, 1);
    const SlotTable table{slots, 3, accepted};
    const Bfs core = layer.launch(x, table, conv_pool, state_pool);
    for (size_t request = 0; request < 2; ++request) {
      Bfs decoded, launched;
      for (size_t j = 0; j < static_cast<size_t>(keep[request]); ++j) {
        const size_t t = 3 * request + j;
        const Bfs one =
            decode_token(layer.weights(), std::span(x).subspan(t * 7168, 7168), sequences[request]);
        decoded.insert(decoded.end(), one.begin(), one.end());
        const auto row = core.begin() + static_cast<std::ptrdiff_t>(t) * 1536;
        launched.insert(launched.end(), row, row + 1536);
      }
      CHECK(compare(Rule::kda_end_to_end, launched, decoded, 1536).passed);
      const int last = keep[request] - 1;
      const auto slot = state_pool.slot(table.slot(static_cast<int>(request), last));
      CHECK(l2({slot.begin(), slot.end()},
               {sequences[request].state.begin(), sequences[request].state.end()}) < 1e-3);
      size_t differing = 0;
      for (int c = 0; c < 4608; ++c) {
        for (int e = 0; e < 3; ++e) {
          differing += conv_pool.at(table.conv_slot(static_cast<int>(request)), c, last + e) !=
                       sequences[request].inputs[static_cast<size_t>(c)][static_cast<size_t>(e)];
        }
      }
      CHECK(differing <= 3);  // a sum that lies between two bf16 may round either way
      accepted[request] = keep[request];
    }
  }
}

}  // namespace
}  // namespace baton::reference
