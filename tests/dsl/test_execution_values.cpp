// Operators, conversions and control flow on run-time values, run on the emulator for every chip
// and compared with the host's C++.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/dsl/dsl_run.h"

using namespace baton::dsl;
using namespace baton::tests;

namespace {

constexpr uint32_t kSeed = 8061925;

/// Two words a thread: all pairs of the edges first, then random ones.
std::vector<uint32_t> pairs_of(const std::vector<uint32_t>& edges) {
  std::vector<uint32_t> words;
  for (uint32_t a : edges) {
    for (uint32_t b : edges) words.insert(words.end(), {a, b});
  }
  std::mt19937 random(kSeed);
  while (words.size() < 2 * kThreads) words.push_back(random());
  REQUIRE(words.size() == 2 * kThreads);
  return words;
}

uint32_t word(const std::vector<uint32_t>& out, int k, size_t thread) {
  return out[static_cast<size_t>(k) * kThreads + thread];
}

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }

/// The same bits, or two NaNs: their payloads are no contract.
bool same_float(uint32_t bits, float expected) {
  if (std::isnan(expected)) return std::isnan(as_float(bits));
  return bits == std::bit_cast<uint32_t>(expected);
}

/// bf16 bits of a float: nearest even, a NaN stays a NaN.
uint32_t rounded_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return (bits >> 16) | 0x40;
  return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
}

}  // namespace

TEST_CASE("execution: integer operators") {
  INFO("seed " << kSeed);
  const std::vector<uint32_t> in =
      pairs_of({0, 1, 2, 3, 7, 31, 32, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFF9});
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      const Vec<U32, 2> pair = bench.in.load<2>(2 * bench.thread());
      const U32 u = pair[0], v = pair[1];
      const I32 i = as_signed(u), j = as_signed(v);
      // Not 0, and not -1: INT_MIN / -1 has no value.
      const I32 divisor = select((j == 0) | (j == -1), I32(3), j);
      bench.leave(0, i / divisor);
      bench.leave(1, i % divisor);
      bench.leave(2, u / max(v, 1U));
      bench.leave(3, u % max(v, 1U));
      bench.leave(4, (i >> (j & 31)) ^ as_signed(u >> (v & 31U)) ^ (i << (j & 31)));
      bench.leave(5, min(i, j) ^ as_signed(max(u, v)));
      bench.leave(6, to_i32(i < j) + 2 * to_i32(u < v) + 4 * to_i32(i >= j) + 8 * to_i32(u == v));
      bench.leave(7, to_i32((to_i64(i) * to_i64(v)) >> 13));
    });
    for (size_t t = 0; t < kThreads; ++t) {
      const uint32_t u = in[2 * t], v = in[2 * t + 1];
      const auto i = static_cast<int32_t>(u), j = static_cast<int32_t>(v);
      const int32_t divisor = j == 0 || j == -1 ? 3 : j;
      CAPTURE(t, u, v);
      REQUIRE(word(out, 0, t) == static_cast<uint32_t>(i / divisor));
      REQUIRE(word(out, 1, t) == static_cast<uint32_t>(i % divisor));
      REQUIRE(word(out, 2, t) == u / std::max(v, 1U));
      REQUIRE(word(out, 3, t) == u % std::max(v, 1U));
      REQUIRE(word(out, 4, t) ==
              (static_cast<uint32_t>(i >> (j & 31)) ^ (u >> (v & 31)) ^ (u << (v & 31))));
      REQUIRE(word(out, 5, t) == (static_cast<uint32_t>(std::min(i, j)) ^ std::max(u, v)));
      const uint32_t flags =
          (i < j ? 1U : 0U) + (u < v ? 2U : 0U) + (i >= j ? 4U : 0U) + (u == v ? 8U : 0U);
      REQUIRE(word(out, 6, t) == flags);
      REQUIRE(word(out, 7, t) ==
              static_cast<uint32_t>((int64_t{i} * static_cast<int64_t>(uint64_t{v})) >> 13));
    }
  }
}

TEST_CASE("execution: float operators round as IEEE says") {
  INFO("seed " << kSeed);
  const std::vector<uint32_t> in =
      pairs_of({0x00000000, 0x80000000, 0x3F800000, 0xBFC00000, 0x7F7FFFFF, 0x00000001, 0x007FFFFF,
                0x00800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3EAAAAAB});
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      const Vec<U32, 2> pair = bench.in.load<2>(2 * bench.thread());
      const F32 f = bitcast<F32>(pair[0]), g = bitcast<F32>(pair[1]);
      bench.leave(0, f + g);
      bench.leave(1, f * g - f);
      bench.leave(2, f / g);
      bench.leave(3, fma(f, g, 1.0F));
      bench.leave(4, min(f, g));
      bench.leave(5, abs(max(f, g)));
      bench.leave(6, to_i32(f < g) + 2 * to_i32(f == g) + 4 * to_i32(f != g) + 8 * to_i32(f >= g));
      bench.leave(7, bitcast<U32>(pack_bf16({f, g})));
    });
    for (size_t t = 0; t < kThreads; ++t) {
      const float f = as_float(in[2 * t]), g = as_float(in[2 * t + 1]);
      CAPTURE(t, f, g);
      REQUIRE(same_float(word(out, 0, t), f + g));
      const volatile float product = f * g;  // rounded before it is used: nothing is contracted
      REQUIRE(same_float(word(out, 1, t), product - f));
      REQUIRE(same_float(word(out, 2, t), f / g));
      REQUIRE(same_float(word(out, 3, t), std::fma(f, g, 1.0F)));
      if (f != g) REQUIRE(same_float(word(out, 4, t), std::fmin(f, g)));
      if (f != g) REQUIRE(same_float(word(out, 5, t), std::fabs(std::fmax(f, g))));
      const uint32_t flags =
          (f < g ? 1U : 0U) + (f == g ? 2U : 0U) + (f != g ? 4U : 0U) + (f >= g ? 8U : 0U);
      REQUIRE(word(out, 6, t) == flags);
      const uint32_t low = word(out, 7, t) & 0xFFFF, high = word(out, 7, t) >> 16;
      const auto check_half = [](uint32_t half, float value) {
        if (!std::isnan(value)) return half == rounded_bf16(value);
        return (half & 0x7FFF) > 0x7F80;
      };
      REQUIRE(check_half(low, f));
      REQUIRE(check_half(high, g));
    }
  }
}

TEST_CASE("execution: conversions") {
  INFO("seed " << kSeed);
  const std::vector<uint32_t> in = pairs_of({0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 16777217});
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      const Vec<U32, 2> pair = bench.in.load<2>(2 * bench.thread());
      const I32 i = as_signed(pair[0]);
      const F32 small = to_f32(i >> 8) * 0.125F;
      bench.leave(0, to_f32(i));
      bench.leave(1, to_i32(small));
      bench.leave(2, to_i32(to_i64(i) >> 32));
      bench.leave(3, to_i32(to_i64(pair[0]) >> 32));
      bench.leave(4, round_bf16(to_f32(i)));
      const auto halves = bitcast<Vec<BF16, 4>>(pair);
      bench.leave(5, to_f32(halves[1]));
      bench.leave(6, bitcast<Vec<U32, 2>>(halves)[1]);
      bench.leave(7, bitcast<U32>(Vec<BF16, 2>({halves[2], halves[1]})));
    });
    for (size_t t = 0; t < kThreads; ++t) {
      const uint32_t u = in[2 * t], v = in[2 * t + 1];
      const auto i = static_cast<int32_t>(u);
      CAPTURE(t, u, v);
      REQUIRE(same_float(word(out, 0, t), static_cast<float>(i)));
      REQUIRE(static_cast<int32_t>(word(out, 1, t)) ==
              static_cast<int32_t>(static_cast<float>(i >> 8) * 0.125F));
      REQUIRE(word(out, 2, t) == (i < 0 ? 0xFFFFFFFFU : 0U));
      REQUIRE(word(out, 3, t) == 0U);
      REQUIRE(word(out, 4, t) == rounded_bf16(static_cast<float>(i)) << 16);
      REQUIRE(same_float(word(out, 5, t), as_float(u & 0xFFFF0000)));
      REQUIRE(word(out, 6, t) == v);
      REQUIRE(word(out, 7, t) == ((v & 0xFFFF) | (u & 0xFFFF0000)));
    }
  }
}

TEST_CASE("execution: loops and branches that each lane takes its own way") {
  std::vector<uint32_t> in(kThreads);
  for (size_t t = 0; t < kThreads; ++t) in[t] = static_cast<uint32_t>(t * 37 % 1009 + 1);
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      const I32 start = as_signed(bench.in.load(bench.thread()));
      Var<I32> n(start), steps(0);
      While([&] { return n != 1; },
            [&] {
              If(n % 2 == 0, [&] { n = n / 2; }).Else([&] { n = 3 * n + 1; });
              steps += 1;
            });
      bench.leave(0, steps.get());
      Var<I32> sum(0);
      For(3, start, 5, [&](I32 i) { sum += i; });
      bench.leave(1, sum.get());
      // In LDS and back, mirrored within the workgroup.
      LdsLayout lds;
      const auto words = lds.array<I32>("words", kLanes);
      words.store(thread_id(), steps.get());
      barrier();
      bench.leave(2, words.load(kLanes - 1 - thread_id()));
    });
    std::vector<uint32_t> steps(kThreads);
    for (size_t t = 0; t < kThreads; ++t) {
      for (uint32_t n = in[t]; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) ++steps[t];
    }
    for (size_t t = 0; t < kThreads; ++t) {
      uint32_t sum = 0;
      for (uint32_t i = 3; i < in[t]; i += 5) sum += i;
      CAPTURE(t, in[t]);
      REQUIRE(word(out, 0, t) == steps[t]);
      REQUIRE(word(out, 1, t) == sum);
      REQUIRE(word(out, 2, t) == steps[t / kLanes * kLanes + kLanes - 1 - t % kLanes]);
    }
  }
}

TEST_CASE("execution: loads outside of a buffer read zero, stores outside are dropped") {
  const std::vector<uint32_t> in(64, 0xABCDEF01);
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      bench.leave(0, bench.in.load(bench.thread()) + 1U);
      bench.leave(1, bench.in.load(kOutside) + 1U);
      bench.out.store(kOutputs * kThreads + bench.thread(), U32(5));
    });
    for (size_t t = 0; t < kThreads; ++t) {
      CAPTURE(t);
      REQUIRE(word(out, 0, t) == (t < 64 ? 0xABCDEF02U : 1U));
      REQUIRE(word(out, 1, t) == 1U);
    }
  }
}
