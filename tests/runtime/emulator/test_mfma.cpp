// Matrix instructions against a scalar model written from the published layout and arithmetic:
// numbers are taken apart with frexp and summed as 128-bit integers, one element at a time.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "runtime/emulator/float_mode.h"
#include "tests/runtime/emulator/mfma_layout.h"
#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

using emulator::MfmaRule;

struct Format {
  int bits, exponent_bits, fraction_bits, bias;
  bool infinities, fnuz;
};
constexpr Format kBf16{16, 8, 7, 127, true, false}, kF16{16, 5, 10, 15, true, false};
constexpr Format kFp8{8, 4, 3, 7, false, false}, kBf8{8, 5, 2, 15, true, false};
constexpr Format kFp8Fnuz{8, 4, 3, 8, false, true}, kBf8Fnuz{8, 5, 2, 16, false, true};
constexpr Format kFp6{6, 2, 3, 1, false, false}, kBf6{6, 3, 2, 3, false, false};
constexpr Format kFp4{4, 2, 1, 1, false, false};

/// A number and the exponent by which the matrix core aligns it.
struct Number {
  double value;
  int exponent;
};
Number number(uint32_t bits, const Format& f) {
  const int field = static_cast<int>(bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << f.fraction_bits) - 1);
  const bool negative = bits >> (f.bits - 1) & 1;
  const int top = (1 << f.exponent_bits) - 1;
  double value;
  if (f.fnuz && negative && field == 0 && fraction == 0) {
    value = NAN;
  } else if (f.infinities && field == top) {
    value = fraction ? NAN : INFINITY;
  } else if (f.bits == 8 && f.exponent_bits == 4 && !f.fnuz && field == top && fraction == 7) {
    value = NAN;
  } else if (field == 0) {
    value = std::ldexp(fraction, 1 - f.bias - f.fraction_bits);
  } else {
    value = std::ldexp((1 << f.fraction_bits) + fraction, field - f.bias - f.fraction_bits);
  }
  return {negative ? -value : value, std::max(field, 1) - f.bias};
}

double floor_to(double x, int exponent) {
  return std::ldexp(std::floor(std::ldexp(x, -exponent)), exponent);
}
double trunc_to(double x, int exponent) {
  return std::ldexp(std::trunc(std::ldexp(x, -exponent)), exponent);
}

/// c plus a group of products, as published for CDNA3. `sums`: products whose k leave this
/// remainder are summed apart. `scale` moves the products.
float add_group(float c, const std::vector<Number>& a, const std::vector<Number>& b, int sums,
                int scale) {
  double special = 0;
  bool is_special = std::isnan(c) || std::isinf(c);
  if (is_special) special = c;
  for (size_t i = 0; i < a.size(); ++i) {
    const double p = a[i].value * b[i].value;
    if (std::isnan(p) || std::fabs(p) >= 0x1p128) {
      special += std::isnan(p) ? NAN : std::copysign(INFINITY, p);
      is_special = true;
    }
  }
  if (is_special) return static_cast<float>(special);
  int c_exponent = -126;
  if (std::fabs(c) >= 0x1p-126f) c_exponent = std::ilogb(c);
  std::vector<double> sum(static_cast<size_t>(sums));
  std::vector<int> top(static_cast<size_t>(sums), -10000);
  for (size_t s = 0; s < sum.size(); ++s) {
    for (size_t i = s; i < a.size(); i += sum.size()) {
      top[s] = std::max(top[s], a[i].exponent + b[i].exponent);
    }
    // Sums of up to eight 26-bit integers at one scale: exact in double.
    for (size_t i = s; i < a.size(); i += sum.size()) {
      sum[s] += trunc_to(a[i].value * b[i].value, top[s] - 24);
    }
    sum[s] = std::ldexp(sum[s], scale);
    top[s] += scale;
  }
  int all = c_exponent;
  for (int t : top) all = std::max(all, t);
  double total = floor_to(c, all - 24);
  for (double s : sum) total += floor_to(s, all - 32);
  return static_cast<float>(floor_to(total, all - 31));
}

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

struct Case {
  std::string chip, mnemonic, modifiers;
  int m, n, k, blocks;
  Format a, b;
  int a_words, b_words, c_words;
  BlockFields fields = {};

  MatrixShape shape() const { return {m, n, k, blocks}; }
};

/// Bits of element e of a lane, from registers packed low element first.
uint32_t element(WaveRun& run, int first, int lane, int e, int bits) {
  uint32_t value = 0;
  for (int i = 0; i < bits; ++i) {
    const int at = e * bits + i;
    value |= ((run.vgpr(first + at / 32)[lane] >> (at % 32)) & 1) << i;
  }
  return value;
}

/// Random, of a few exponents, so that alignment and rounding both happen; rarely a special. Kind
/// 3: subnormals, zeros and what is just above.
uint32_t random_element(std::mt19937_64& random, const Format& f, int kind) {
  const uint32_t bits = static_cast<uint32_t>(random()) & ((1u << f.bits) - 1);
  if (kind == 3) {
    const uint32_t field = static_cast<uint32_t>(random() % 4 / 2);
    return (bits & (1u << (f.bits - 1) | ((1u << f.fraction_bits) - 1))) | field << f.fraction_bits;
  }
  if (kind == 0 || f.exponent_bits < 4) return bits;
  const uint32_t spread = kind == 1 ? 3 : 14;
  const uint32_t field =
      static_cast<uint32_t>(f.bias) - spread / 2 + static_cast<uint32_t>(random() % spread);
  const uint32_t low = bits & ((1u << f.fraction_bits) - 1);
  const uint32_t sign = bits & (1u << (f.bits - 1));
  const uint32_t limited = std::min(field, (1u << f.exponent_bits) - 2);
  return sign | (std::max(limited, 1u) << f.fraction_bits) | low;
}

void pack(WaveRun& run, int first, int lane, int e, int bits, uint32_t value) {
  for (int i = 0; i < bits; ++i) {
    const int at = e * bits + i;
    uint32_t& word = run.vgpr(first + at / 32)[lane];
    word = (word & ~(1u << (at % 32))) | ((value >> i) & 1) << (at % 32);
  }
}

float model(const Case& c, MfmaRule rule, const std::vector<Number>& a,
            const std::vector<Number>& b, float acc, const std::vector<int>& scales) {
  const bool narrow = c.a.bits <= 8;
  if (rule == MfmaRule::chain) {
    for (int k = 0; k < c.k; ++k) {
      const size_t at = static_cast<size_t>(k);
      const double scaled = std::ldexp(a[at].value * b[at].value, scales[at / 32]);
      acc = std::fmaf(static_cast<float>(scaled), 1.0f, acc);
    }
    return acc;
  }
  if (c.chip == "gfx90a") {
    const int group = std::min(4, c.k);
    for (int k = 0; k < c.k; k += group) {
      float p[4] = {};
      for (int i = 0; i < group; ++i) {
        const size_t at = static_cast<size_t>(k + i);
        p[i] = flushed(flushed(static_cast<float>(a[at].value)) *
                       flushed(static_cast<float>(b[at].value)));
      }
      const float low = flushed(p[0] + p[1]), high = flushed(p[2] + p[3]);
      acc = flushed(flushed(acc) + (group == 4 ? flushed(low + high) : low));
    }
    return acc;
  }
  const int group = narrow ? 16 : std::min(8, c.k);
  for (int k = 0; k < c.k; k += group) {
    const std::vector<Number> ga(a.begin() + k, a.begin() + k + group);
    const std::vector<Number> gb(b.begin() + k, b.begin() + k + group);
    acc = add_group(acc, ga, gb, narrow ? 2 : 1, scales[static_cast<size_t>(k / 32)]);
  }
  return acc;
}

bool same(float x, float y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return std::memcmp(&x, &y, 4) == 0;
}

/// Random operands in v0 and v8, an accumulator in v32, scales in v20 and v21. Kind 3: B is not
/// small, and accumulators are about as large as a product.
void fill_registers(WaveRun& run, const Case& c, int per_lane, int kind, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int lane = 0; lane < 64; ++lane) {
    for (int e = 0; e < per_lane; ++e) {
      pack(run, 0, lane, e, c.a.bits, random_element(random, c.a, kind));
      pack(run, 8, lane, e, c.b.bits, random_element(random, c.b, kind == 3 ? 1 : kind));
    }
    const int least = kind == 3 ? 30 + c.a.bias + c.a.fraction_bits : 34;
    for (int i = 0; i < c.c_words; ++i) {
      const float x =
          std::ldexp(static_cast<float>(static_cast<int64_t>(random() % 2000001) - 1000000),
                     static_cast<int>(random() % 24) - least);
      std::memcpy(&run.vgpr(32 + i)[lane], &x, 4);
    }
    for (int i = 20; i < 22; ++i) {
      run.vgpr(i)[lane] = 0;
      for (int byte = 0; byte < 4; ++byte) {
        run.vgpr(i)[lane] |= static_cast<uint32_t>(120 + random() % 14) << (8 * byte);
      }
    }
  }
}

void check_case(const Case& c, MfmaRule rule, int kind, uint64_t seed,
                emulator::HostLevel level = emulator::best_host_level()) {
  const auto operand = [](int first, int words) {
    return words == 1
               ? "v" + std::to_string(first)
               : "v[" + std::to_string(first) + ":" + std::to_string(first + words - 1) + "]";
  };
  const bool scaled = c.mnemonic.find("_scale_") != std::string::npos;
  WaveRun run(c.chip,
              c.mnemonic + " " + operand(64, c.c_words) + ", " + operand(0, c.a_words) + ", " +
                  operand(8, c.b_words) + ", " + operand(32, c.c_words) +
                  (scaled ? ", v20, v21" : "") + c.modifiers + "\n",
              level);
  run.wave().mfma = rule;
  // MODE is of no account: any rounding, subnormals kept or flushed.
  if (seed % 2) run.wave().mode = static_cast<uint32_t>(seed * 7 & 0xff);
  const int slices = 64 / (c.m * c.blocks), per_lane = c.k / slices;
  fill_registers(run, c, per_lane, kind, seed);
  run.run();
  emulator::apply_float_mode(emulator::kModeDefaultFloat);  // the model's own arithmetic
  // op_sel of the scaled form: byte 1 of A's scales, byte 2 of B's.
  const auto scale = [&](int row, int column, int k_block) {
    if (!scaled) return 0;
    const int a = static_cast<int>(run.vgpr(20)[row + c.m * k_block] >> 8 & 0xff);
    const int b = static_cast<int>(run.vgpr(21)[column + c.n * k_block] >> 16 & 0xff);
    return a + b - 254;
  };
  size_t wrong = 0;
  for (int block = 0; block < c.blocks; ++block) {
    for (int i = 0; i < c.m; ++i) {
      for (int j = 0; j < c.n; ++j) {
        std::vector<Number> a, b;
        for (int k = 0; k < c.k; ++k) {
          const ElementPlace in_a = place_of_a(c.shape(), c.fields, block, i, k);
          const ElementPlace in_b = place_of_b(c.shape(), c.fields, block, j, k);
          a.push_back(number(element(run, 0, in_a.lane, in_a.element, c.a.bits), c.a));
          b.push_back(number(element(run, 8, in_b.lane, in_b.element, c.b.bits), c.b));
        }
        std::vector<int> scales;
        for (int s = 0; s < (c.k + 31) / 32; ++s) scales.push_back(scale(i, j, s));
        const auto [word, lane] = place_of_result(c.shape(), block, i, j);
        const float acc = [&] {
          float x;
          std::memcpy(&x, &run.vgpr(32 + word)[lane], 4);
          return x;
        }();
        float actual;
        std::memcpy(&actual, &run.vgpr(64 + word)[lane], 4);
        const float expected = model(c, rule, a, b, acc, scales);
        if (same(actual, expected)) continue;
        if (++wrong <= 3) {
          UNSCOPED_INFO("block " << block << " (" << i << ", " << j << "): " << std::hexfloat
                                 << actual << ", the model says " << expected << ", c " << acc);
        }
      }
    }
  }
  INFO(c.mnemonic << c.modifiers << " on " << c.chip << ", kind " << kind << ", seed " << seed
                  << ": " << wrong << " wrong");
  CHECK(wrong == 0);
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"gfx950", "v_mfma_f32_16x16x32_bf16", "", 16, 16, 32, 1, kBf16, kBf16, 4, 4, 4},
      {"gfx950", "v_mfma_f32_16x16x32_f16", "", 16, 16, 32, 1, kF16, kF16, 4, 4, 4},
      {"gfx950", "v_mfma_f32_32x32x16_bf16", "", 32, 32, 16, 1, kBf16, kBf16, 4, 4, 16},
      {"gfx950", "v_mfma_f32_16x16x32_fp8_bf8", "", 16, 16, 32, 1, kFp8, kBf8, 2, 2, 4},
      {"gfx950", "v_mfma_f32_32x32x16_bf8_fp8", "", 32, 32, 16, 1, kBf8, kFp8, 2, 2, 16},
      {"gfx942", "v_mfma_f32_16x16x16_bf16", "", 16, 16, 16, 1, kBf16, kBf16, 2, 2, 4},
      {"gfx942", "v_mfma_f32_16x16x16_f16", "", 16, 16, 16, 1, kF16, kF16, 2, 2, 4},
      {"gfx942", "v_mfma_f32_32x32x8_bf16", "", 32, 32, 8, 1, kBf16, kBf16, 2, 2, 16},
      {"gfx942", "v_mfma_f32_16x16x4_4b_f16", "", 16, 16, 4, 4, kF16, kF16, 2, 2, 16},
      {"gfx942", "v_mfma_f32_4x4x4_16b_bf16", "", 4, 4, 4, 16, kBf16, kBf16, 2, 2, 4},
      {"gfx942", "v_mfma_f32_16x16x32_fp8_fp8", "", 16, 16, 32, 1, kFp8Fnuz, kFp8Fnuz, 2, 2, 4},
      {"gfx942", "v_mfma_f32_16x16x32_bf8_fp8", "", 16, 16, 32, 1, kBf8Fnuz, kFp8Fnuz, 2, 2, 4},
      {"gfx90a", "v_mfma_f32_16x16x16bf16_1k", "", 16, 16, 16, 1, kBf16, kBf16, 2, 2, 4},
      {"gfx90a", "v_mfma_f32_32x32x8bf16_1k", "", 32, 32, 8, 1, kBf16, kBf16, 2, 2, 16},
      {"gfx90a", "v_mfma_f32_16x16x16f16", "", 16, 16, 16, 1, kF16, kF16, 2, 2, 4},
      {"gfx90a", "v_mfma_f32_16x16x2bf16", "", 16, 16, 2, 4, kBf16, kBf16, 1, 1, 16},
  };
  const std::string sel = " op_sel:[1,0,0] op_sel_hi:[0,1,0]";
  const Format coded[] = {kFp8, kBf8, kFp6, kBf6, kFp4};
  constexpr int words[] = {8, 8, 6, 6, 4};
  for (int a = 0; a < 5; ++a) {
    for (int b : {a, 4 - a}) {
      const std::string codes = " cbsz:" + std::to_string(a) + " blgp:" + std::to_string(b);
      all.push_back({"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4", sel + codes, 16, 16, 128, 1,
                     coded[a], coded[b], words[a], words[b], 4});
      all.push_back({"gfx950", "v_mfma_scale_f32_32x32x64_f8f6f4", sel + codes, 32, 32, 64, 1,
                     coded[a], coded[b], words[a], words[b], 16});
    }
  }
  all.push_back({"gfx950", "v_mfma_f32_16x16x128_f8f6f4", " cbsz:4 blgp:4", 16, 16, 128, 1, kFp4,
                 kFp4, 4, 4, 4});
  return all;
}

TEST_CASE("matrix instructions agree with the scalar model", "[emulator][mfma]") {
  for (const Case& c : cases()) {
    for (int kind = 0; kind < 4; ++kind) {
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        check_case(c, MfmaRule::exact, kind, seed * 31 + static_cast<uint64_t>(kind));
      }
    }
  }
}

TEST_CASE("blocks of 16-bit elements share A, and lanes B, as cbsz, abid and blgp say",
          "[emulator][mfma]") {
  for (Case c : cases()) {
    if (c.a.bits != 16) continue;
    const auto run = [&](const BlockFields& fields) {
      c.fields = fields;
      c.modifiers = fields.text();
      check_case(c, MfmaRule::exact, 2, 6);
    };
    for (int blgp = 1; blgp < 8; ++blgp) run({.blgp = blgp});
    for (int cbsz = 1; 1 << cbsz <= c.blocks; ++cbsz) {
      for (int abid = 0; abid < 1 << cbsz; ++abid) run({cbsz, abid, abid % 8});
    }
  }
}

TEST_CASE("matrix instructions agree with the scalar model on older CPUs", "[emulator][mfma]") {
  for (const auto level : {emulator::HostLevel::baseline, emulator::HostLevel::avx2}) {
    if (!emulator::runs_here(level)) continue;
    for (const Case& c : cases()) check_case(c, MfmaRule::exact, 2, 5, level);
  }
}

TEST_CASE("the chain rule is a fused chain over ascending k", "[emulator][mfma]") {
  // bf16 x bf16 is exact in fp32, so that a fused step is an exact product and one rounding.
  for (const Case& c : cases()) {
    if (c.a.bits == 16 && c.a.exponent_bits == 5) continue;
    for (uint64_t seed = 1; seed <= 3; ++seed) check_case(c, MfmaRule::chain, 2, seed);
  }
}

}  // namespace
}  // namespace baton::tests
