// Matrix instructions on fp32, fp64 and int8 against a scalar model: fused steps over ascending k,
// or exact integers; and the fields that share blocks, wherever a chip has them.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "runtime/emulator/float_mode.h"
#include "tests/runtime/emulator/mfma_layout.h"
#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

enum class Element { f32, f64, i8 };

struct Case {
  std::string chip, mnemonic;
  Element element;
  MatrixShape shape;

  int a_words() const {
    const int bytes = element == Element::i8 ? 1 : element == Element::f32 ? 4 : 8;
    return std::max(1, shape.per_lane_a() * bytes / 4);
  }
  int c_words() const {
    return shape.m * shape.n * shape.blocks / 64 * (element == Element::f64 ? 2 : 1);
  }
};

std::vector<Case> cases() {
  constexpr Element f32 = Element::f32, f64 = Element::f64, i8 = Element::i8;
  std::vector<Case> all = {
      {"gfx90a", "v_mfma_f32_32x32x1f32", f32, {32, 32, 1, 2}},
      {"gfx90a", "v_mfma_f32_16x16x1f32", f32, {16, 16, 1, 4}},
      {"gfx90a", "v_mfma_f32_4x4x1f32", f32, {4, 4, 1, 16}},
      {"gfx90a", "v_mfma_f32_32x32x2f32", f32, {32, 32, 2, 1}},
      {"gfx90a", "v_mfma_f32_16x16x4f32", f32, {16, 16, 4, 1}},
      {"gfx90a", "v_mfma_f64_16x16x4f64", f64, {16, 16, 4, 1}},
      {"gfx90a", "v_mfma_f64_4x4x4f64", f64, {4, 4, 4, 4}},
      {"gfx90a", "v_mfma_i32_32x32x4i8", i8, {32, 32, 4, 2}},
      {"gfx90a", "v_mfma_i32_16x16x4i8", i8, {16, 16, 4, 4}},
      {"gfx90a", "v_mfma_i32_4x4x4i8", i8, {4, 4, 4, 16}},
      {"gfx90a", "v_mfma_i32_32x32x8i8", i8, {32, 32, 8, 1}},
      {"gfx90a", "v_mfma_i32_16x16x16i8", i8, {16, 16, 16, 1}},
      {"gfx950", "v_mfma_i32_32x32x32_i8", i8, {32, 32, 32, 1}},
      {"gfx950", "v_mfma_i32_16x16x64_i8", i8, {16, 16, 64, 1}},
  };
  for (const char* chip : {"gfx942", "gfx950"}) {
    const std::vector<Case> both = {
        {chip, "v_mfma_f32_32x32x1_2b_f32", f32, {32, 32, 1, 2}},
        {chip, "v_mfma_f32_16x16x1_4b_f32", f32, {16, 16, 1, 4}},
        {chip, "v_mfma_f32_4x4x1_16b_f32", f32, {4, 4, 1, 16}},
        {chip, "v_mfma_f32_32x32x2_f32", f32, {32, 32, 2, 1}},
        {chip, "v_mfma_f32_16x16x4_f32", f32, {16, 16, 4, 1}},
        {chip, "v_mfma_f64_16x16x4_f64", f64, {16, 16, 4, 1}},
        {chip, "v_mfma_f64_4x4x4_4b_f64", f64, {4, 4, 4, 4}},
        {chip, "v_mfma_i32_32x32x4_2b_i8", i8, {32, 32, 4, 2}},
        {chip, "v_mfma_i32_16x16x4_4b_i8", i8, {16, 16, 4, 4}},
        {chip, "v_mfma_i32_4x4x4_16b_i8", i8, {4, 4, 4, 16}},
        {chip, "v_mfma_i32_32x32x16_i8", i8, {32, 32, 16, 1}},
        {chip, "v_mfma_i32_16x16x32_i8", i8, {16, 16, 32, 1}},
    };
    all.insert(all.end(), both.begin(), both.end());
  }
  return all;
}

constexpr int kA = 0, kB = 8, kC = 32, kD = 64;  // first registers

std::string range(int first, int words) {
  const std::string from = std::to_string(first);
  return words == 1 ? "v" + from : "v[" + from + ":" + std::to_string(first + words - 1) + "]";
}

double read_f64(WaveRun& run, int reg, int lane) {
  const uint64_t bits = run.vgpr(reg)[lane] | static_cast<uint64_t>(run.vgpr(reg + 1)[lane]) << 32;
  double x;
  std::memcpy(&x, &bits, 8);
  return x;
}
void write_f64(WaveRun& run, int reg, int lane, double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, 8);
  run.vgpr(reg)[lane] = static_cast<uint32_t>(bits);
  run.vgpr(reg + 1)[lane] = static_cast<uint32_t>(bits >> 32);
}
float read_f32(WaveRun& run, int reg, int lane) {
  float x;
  std::memcpy(&x, &run.vgpr(reg)[lane], 4);
  return x;
}
int read_i8(WaveRun& run, int reg, ElementPlace at) {
  return static_cast<int8_t>(run.vgpr(reg + at.element / 4)[at.lane] >> (8 * (at.element % 4)));
}

/// Numbers of near exponents, so that order and rounding show; some subnormal, some zero.
template <typename T>
T random_number(std::mt19937_64& random) {
  const T fraction = static_cast<T>(static_cast<int64_t>(random())) / static_cast<T>(0x1p63);
  const uint64_t kind = random() % 16;
  if (kind == 0) return random() % 2 ? T(0) : -T(0);
  if (kind == 1) return fraction * std::numeric_limits<T>::min();
  return std::ldexp(fraction, static_cast<int>(random() % 8));
}

void fill(WaveRun& run, const Case& c, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto operand = [&](int first, int words) {
    for (int lane = 0; lane < 64; ++lane) {
      for (int w = 0; w < words; ++w) {
        if (c.element == Element::i8) {
          run.vgpr(first + w)[lane] = static_cast<uint32_t>(random());
        } else if (c.element == Element::f32) {
          const float x = random_number<float>(random);
          std::memcpy(&run.vgpr(first + w)[lane], &x, 4);
        } else if (w % 2 == 0) {
          write_f64(run, first + w, lane, random_number<double>(random));
        }
      }
    }
  };
  operand(kA, c.a_words());
  operand(kB, c.a_words());
  operand(kC, c.c_words());
}

/// Whether element (i, j) of a block is the model's. `negate`: of A, B and C, a bit each.
bool is_right(WaveRun& run, const Case& c, const BlockFields& f, int negate, int block, int i,
              int j) {
  const MatrixShape& s = c.shape;
  if (c.element == Element::f64) {
    const int reg = s.m == 16 ? i / 4 * 2 : 0;
    const int lane = s.m == 16 ? 16 * (i % 4) + j : 16 * i + 4 * block + j;
    double sum = read_f64(run, kC + reg, lane) * (negate & 4 ? -1 : 1);
    for (int k = 0; k < s.k; ++k) {
      const double a = read_f64(run, kA, place_of_a(s, f, block, i, k).lane);
      const double b = read_f64(run, kB, place_of_b(s, f, block, j, k).lane);
      sum = std::fma(a * (negate & 1 ? -1 : 1), b * (negate & 2 ? -1 : 1), sum);
    }
    const double got = read_f64(run, kD + reg, lane);
    return std::memcmp(&got, &sum, 8) == 0;
  }
  const auto [reg, lane] = place_of_result(s, block, i, j);
  if (c.element == Element::f32) {
    float sum = read_f32(run, kC + reg, lane);
    for (int k = 0; k < s.k; ++k) {
      sum = std::fma(read_f32(run, kA, place_of_a(s, f, block, i, k).lane),
                     read_f32(run, kB, place_of_b(s, f, block, j, k).lane), sum);
    }
    const float got = read_f32(run, kD + reg, lane);
    return std::memcmp(&got, &sum, 4) == 0;
  }
  uint32_t sum = run.vgpr(kC + reg)[lane];
  for (int k = 0; k < s.k; ++k) {
    sum += static_cast<uint32_t>(read_i8(run, kA, place_of_a(s, f, block, i, k)) *
                                 read_i8(run, kB, place_of_b(s, f, block, j, k)));
  }
  return run.vgpr(kD + reg)[lane] == sum;
}

void check(const Case& c, const BlockFields& f, int negate, uint64_t seed) {
  std::string modifiers = f.text();
  if (c.element == Element::f64) {
    modifiers.clear();
    for (int i = 0; negate && i < 3; ++i) {
      modifiers +=
          (i == 0 ? " neg:[" : ",") + std::to_string(negate >> i & 1) + (i == 2 ? "]" : "");
    }
  }
  WaveRun run(c.chip, c.mnemonic + " " + range(kD, c.c_words()) + ", " + range(kA, c.a_words()) +
                          ", " + range(kB, c.a_words()) + ", " + range(kC, c.c_words()) +
                          modifiers);
  fill(run, c, seed);
  // MODE is of no account.
  run.wave().mode = static_cast<uint32_t>(seed * 37 & 0xff);
  run.run();
  emulator::apply_float_mode(emulator::kModeDefaultFloat);
  int wrong = 0;
  for (int block = 0; block < c.shape.blocks; ++block) {
    for (int i = 0; i < c.shape.m; ++i) {
      for (int j = 0; j < c.shape.n; ++j) wrong += !is_right(run, c, f, negate, block, i, j);
    }
  }
  INFO(c.mnemonic << modifiers << " on " << c.chip << ", seed " << seed);
  CHECK(wrong == 0);
}

TEST_CASE("fp32, fp64 and int8 matrix instructions agree with a scalar model", "[emulator][mfma]") {
  for (const Case& c : cases()) {
    for (uint64_t seed = 1; seed <= 4; ++seed) check(c, {}, 0, seed);
  }
}

TEST_CASE("blocks share A, and lanes B, as cbsz, abid and blgp say", "[emulator][mfma]") {
  for (const Case& c : cases()) {
    if (c.element == Element::f64) continue;
    for (int blgp = 1; blgp < 8; ++blgp) check(c, {.blgp = blgp}, 0, 7);
    for (int cbsz = 1; 1 << cbsz <= c.shape.blocks; ++cbsz) {
      for (int abid = 0; abid < 1 << cbsz; ++abid) check(c, {cbsz, abid, abid % 8}, 0, 8);
    }
  }
}

TEST_CASE("fp64 matrix instructions negate their sources", "[emulator][mfma]") {
  for (const Case& c : cases()) {
    if (c.element != Element::f64 || c.chip == "gfx90a") continue;
    for (int negate = 1; negate < 8; ++negate) check(c, {}, negate, 9);
  }
}

}  // namespace
}  // namespace baton::tests
