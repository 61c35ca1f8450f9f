// What lanes exchange, run on the emulator for every chip and compared with a plain loop.
#include <bit>
#include <catch2/catch.hpp>
#include <random>

#include "tests/dsl/dsl_run.h"

using namespace baton::dsl;
using namespace baton::tests;

namespace {

constexpr uint32_t kSeed = 20250611;

std::vector<uint32_t> random_words(size_t count) {
  std::mt19937 random(kSeed);
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) word = random();
  return words;
}

/// Floats of mixed signs and magnitudes, so that the order of a sum shows in its bits.
std::vector<float> random_floats(size_t count) {
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> mantissa(-1.0F, 1.0F);
  std::vector<float> values(count);
  for (float& value : values) {
    value = std::ldexp(mantissa(random), static_cast<int>(random() % 16));
  }
  return values;
}

std::vector<uint32_t> as_words(const std::vector<float>& values) {
  std::vector<uint32_t> words;
  for (float value : values) words.push_back(std::bit_cast<uint32_t>(value));
  return words;
}

}  // namespace

TEST_CASE("execution: a butterfly step meets lane ^ offset") {
  INFO("seed " << kSeed);
  const std::vector<uint32_t> in = random_words(kThreads);
  const int offsets[] = {1, 2, 4, 8, 16, 32};
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [&](const Bench& bench) {
      const U32 word = bench.in.load(bench.thread());
      for (int k = 0; k < 6; ++k) {
        bench.leave(k, butterfly({offsets[k]}, word, [](U32 a, U32 b) { return a * b + (a ^ b); }));
      }
    });
    for (int k = 0; k < 6; ++k) {
      for (int t = 0; t < kThreads; ++t) {
        const auto at = static_cast<size_t>(t), other = static_cast<size_t>(t ^ offsets[k]);
        const uint32_t expected = in[at] * in[other] + (in[at] ^ in[other]);
        CAPTURE(k, t);
        REQUIRE(out[static_cast<size_t>(k * kThreads + t)] == expected);
      }
    }
  }
}

TEST_CASE("execution: a butterfly sums in the given order of offsets") {
  INFO("seed " << kSeed);
  const std::vector<float> values = random_floats(kThreads);
  const auto reference = [&](const std::vector<int>& offsets) {
    std::vector<float> sums = values;
    for (int offset : offsets) {
      std::vector<float> next(sums.size());
      for (size_t t = 0; t < sums.size(); ++t) {
        next[t] = sums[t] + sums[t ^ static_cast<size_t>(offset)];
      }
      sums = next;
    }
    return sums;
  };
  const std::vector<float> falling = reference({32, 16, 8, 4, 2, 1}), mixed = reference({4, 32, 1});
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, as_words(values), [](const Bench& bench) {
      const F32 value = bitcast<F32>(bench.in.load(bench.thread()));
      const auto add = [](F32 a, F32 b) { return a + b; };
      bench.leave(0, butterfly({32, 16, 8, 4, 2, 1}, value, add));
      bench.leave(1, butterfly({4, 32, 1}, value, add));
    });
    for (size_t t = 0; t < kThreads; ++t) {
      CAPTURE(t);
      REQUIRE(out[t] == std::bit_cast<uint32_t>(falling[t]));
      REQUIRE(out[kThreads + t] == std::bit_cast<uint32_t>(mixed[t]));
    }
  }
}

TEST_CASE("execution: a key and its index are combined together") {
  INFO("seed " << kSeed);
  std::vector<uint32_t> in = random_words(kThreads);
  for (uint32_t& word : in) word %= 50;  // many ties
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      const std::array<I32, 2> mine = {as_signed(bench.in.load(bench.thread())), lane_id()};
      const auto best = butterfly({1, 2, 4, 8, 16, 32}, mine, [](const auto& a, const auto& b) {
        const Bool left = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]));
        return std::array{select(left, a[0], b[0]), select(left, a[1], b[1])};
      });
      bench.leave(0, best[0]);
      bench.leave(1, best[1]);
    });
    for (size_t t = 0; t < kThreads; ++t) {
      const size_t wave = t / 64 * 64;
      size_t best = wave;
      for (size_t l = wave; l < wave + 64; ++l) {
        if (in[l] > in[best]) best = l;
      }
      CAPTURE(t);
      REQUIRE(out[t] == in[best]);
      REQUIRE(out[kThreads + t] == best - wave);
    }
  }
}

TEST_CASE("execution: prefix sums over wave and workgroup") {
  INFO("seed " << kSeed);
  std::vector<uint32_t> in = random_words(kThreads);
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      LdsLayout lds;
      const auto totals = lds.array<I32>("totals", kLanes / 64);
      const I32 value = as_signed(bench.in.load(bench.thread()));
      bench.leave(0, wave_inclusive_sum(value));
      bench.leave(1, wave_exclusive_sum(value));
      const WorkgroupSum sum = workgroup_exclusive_sum(value, totals, kLanes / 64);
      bench.leave(2, sum.before);
      bench.leave(3, sum.total);
    });
    for (size_t group = 0; group < kThreads; group += kLanes) {
      uint32_t total = 0;
      for (size_t t = group; t < group + kLanes; ++t) total += in[t];
      uint32_t in_group = 0, in_wave = 0;
      for (size_t t = group; t < group + kLanes; ++t) {
        if (t % 64 == 0) in_wave = 0;
        CAPTURE(t);
        REQUIRE(out[t] == in_wave + in[t]);
        REQUIRE(out[kThreads + t] == in_wave);
        REQUIRE(out[2 * kThreads + t] == in_group);
        REQUIRE(out[3 * kThreads + t] == total);
        in_wave += in[t];
        in_group += in[t];
      }
    }
  }
}

TEST_CASE("execution: ballot, population count, lanes read by number") {
  INFO("seed " << kSeed);
  const std::vector<uint32_t> in = random_words(kThreads);
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      const U32 word = bench.in.load(bench.thread());
      const I64 mask = ballot((word & 1U) == 1U);
      bench.leave(0, to_i32(mask));
      bench.leave(1, popcount(mask) + 100 * popcount(word));
      bench.leave(2, read_lane(word, 41));
      bench.leave(3, uniform(word));
      bench.leave(4, wave_id() * 1000 + lane_id());
      If(lane_id() >= 5, [&] {
        bench.leave(5, uniform(word));                    // of the first active lane
        bench.leave(6, popcount(ballot(lane_id() < 9)));  // inactive lanes count 0
      });
    });
    for (size_t t = 0; t < kThreads; ++t) {
      const size_t wave = t / 64 * 64, lane = t % 64;
      uint64_t mask = 0;
      for (size_t l = 0; l < 64; ++l) mask |= uint64_t{in[wave + l] & 1} << l;
      CAPTURE(t);
      REQUIRE(out[t] == static_cast<uint32_t>(mask));
      REQUIRE(out[kThreads + t] ==
              static_cast<uint32_t>(std::popcount(mask) + 100 * std::popcount(in[t])));
      REQUIRE(out[2 * kThreads + t] == in[wave + 41]);
      REQUIRE(out[3 * kThreads + t] == in[wave]);
      REQUIRE(out[4 * kThreads + t] == t % kLanes / 64 * 1000 + lane);
      REQUIRE(out[5 * kThreads + t] == (lane >= 5 ? in[wave + 5] : 0));
      REQUIRE(out[6 * kThreads + t] == (lane >= 5 ? 4U : 0U));
    }
  }
}

TEST_CASE("execution: a matrix step multiplies rows of a by columns of b") {
  INFO("seed " << kSeed);
  // Small integers: every product and sum is exact, in whatever order it is made.
  std::mt19937 random(kSeed);
  int a[16][32], b[32][16];
  for (auto& row : a) {
    for (int& value : row) value = static_cast<int>(random() % 17) - 8;
  }
  for (auto& row : b) {
    for (int& value : row) value = static_cast<int>(random() % 17) - 8;
  }
  const auto bf16 = [](int value) {
    return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
  };
  // Lane l: row (column) l % 16, k = 8 (l / 16) .. + 7, a pair a word; a's words, then b's.
  std::vector<uint32_t> in;
  for (const bool second : {false, true}) {
    for (int lane = 0; lane < 64; ++lane) {
      for (int pair = 0; pair < 4; ++pair) {
        const int k = 8 * (lane / 16) + 2 * pair, i = lane % 16;
        const int low = second ? b[k][i] : a[i][k], high = second ? b[k + 1][i] : a[i][k + 1];
        in.push_back(bf16(low) | bf16(high) << 16);
      }
    }
  }
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [](const Bench& bench) {
      const auto left = bitcast<Vec<BF16, 8>>(bench.in.load<4>(4 * lane_id()));
      const auto right = bitcast<Vec<BF16, 8>>(bench.in.load<4>(4 * lane_id() + 256));
      const Vec<F32, 4> once = mfma_16x16x32(left, right, zero_accumulator());
      const Vec<F32, 4> twice = mfma_16x16x32(left, right, once);
      for (int i = 0; i < 4; ++i) {
        bench.leave(i, once[i]);
        bench.leave(4 + i, twice[i]);
      }
    });
    for (int lane = 0; lane < 64; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int column = lane % 16, row = 4 * (lane / 16) + i;
        int sum = 0;
        for (int k = 0; k < 32; ++k) sum += a[row][k] * b[k][column];
        CAPTURE(lane, i);
        const auto at = static_cast<size_t>(i * kThreads + lane);
        REQUIRE(std::bit_cast<float>(out[at]) == static_cast<float>(sum));
        REQUIRE(std::bit_cast<float>(out[at + 4 * kThreads]) == static_cast<float>(2 * sum));
      }
    }
  }
}
