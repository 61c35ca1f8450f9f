// The fast way through a matrix instruction's exact arithmetic against the slow one, bit for bit:
// groups of random and of hostile operands. The slow one is what test_mfma.cpp compares with a
// model.
#define BATON_ISA isa_test
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "runtime/emulator/isa/mfma_matrix.h"

namespace baton::tests {
namespace {

using namespace emulator::isa_test;

constexpr int kGroup = 16;  // as many k as the largest group has

using A = Matrix<kGroup, kQuad>;
using B = Matrix<kGroup, kColumns>;

/// How operands and accumulators are drawn.
struct Kind {
  int spread;               ///< of exponents
  int zeros;                ///< one in so many; 0: none
  int subnormals;           ///< likewise
  bool few_bits;            ///< fractions of mostly zeros or ones: ties and long carries
  bool zero_lines = false;  ///< whole rows and columns
};
constexpr Kind kKinds[] = {{1, 0, 0, false},      {4, 0, 0, true},    {12, 8, 0, false},
                           {30, 4, 9, true},      {200, 5, 5, false}, {2, 3, 0, true},
                           {6, 0, 0, false, true}};

template <const Format& f>
uint32_t draw(std::mt19937_64& random, const Kind& kind) {
  constexpr uint32_t kTop = (1u << f.exponent_bits) - 1;
  uint32_t fraction = static_cast<uint32_t>(random()) & ((1u << f.fraction_bits) - 1);
  if (kind.few_bits && random() % 2) {
    fraction = random() % 2 ? 0 : (1u << f.fraction_bits) - 1;
  }
  const int wanted =
      f.bias + static_cast<int>(random() % static_cast<uint64_t>(kind.spread)) - kind.spread / 2;
  uint32_t field = static_cast<uint32_t>(std::clamp(wanted, 1, static_cast<int>(kTop) - 1));
  if (kind.zeros && random() % static_cast<uint64_t>(kind.zeros) == 0) field = fraction = 0;
  if (kind.subnormals && random() % static_cast<uint64_t>(kind.subnormals) == 0) field = 0;
  return static_cast<uint32_t>(random() & 1) << (f.bits - 1) | field << f.fraction_bits | fraction;
}

/// Element i is number i; the arrays of `m` hold k * width of them.
template <const Format& f, int width>
void fill(std::mt19937_64& random, const Kind& kind, Matrix<kGroup, width>& m) {
  bool zero[kColumns] = {};
  for (bool& line : zero) line = kind.zero_lines && random() % 3 == 0;
  m.top_exponent = -100000;
  for (int at = 0; at < kGroup * width; at += kColumns) {
    V16i bits;
    for (int j = 0; j < kColumns; ++j) {
      bits[j] = zero[(at + j) % width] ? 0 : static_cast<int32_t>(draw<f>(random, kind));
    }
    const Parts p = take_apart16<f>(bits);
    store16(m.value + at, p.value);
    store16(m.exponent + at, p.exponent);
    store16(m.magnitude + at, p.magnitude << (kSumBits / 2 - f.fraction_bits));
    store16(m.negative + at, p.negative);
    m.top_exponent = std::max(m.top_exponent, __builtin_reduce_max(p.exponent));
  }
  find_levels(m);
}

float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// An accumulator near the sum `s` in the one or other way.
float draw_addend(std::mt19937_64& random, double s) {
  const float near = static_cast<float>(s);
  const uint32_t bits = static_cast<uint32_t>(random());
  switch (random() % 8) {
    case 0:
      return 0.0f;
    case 1:
      return -0.0f;
    case 2:  // cancels, or nearly
      return -as_float(__builtin_bit_cast(uint32_t, near) + bits % 5 - 2);
    case 3:  // a power of two: the result may fall below it
      return as_float((bits & 0x80000000) | (100 + bits % 60) << 23);
    case 4:  // far smaller, or far larger
      return as_float(bits);
    default: {  // some binary places off
      const int off = static_cast<int>(random() % 48) - 24;
      const float scaled = std::ldexp(near == 0.0f ? 1.0f : near, off);
      return as_float((__builtin_bit_cast(uint32_t, scaled) & 0xff800000) | (bits & 0x7fffff)) *
             (random() % 2 ? 1.0f : -1.0f);
    }
  }
}

struct Tally {
  size_t fast = 0, all = 0, wrong = 0;
};

template <const Format& f, int group, bool even_odd>
void compare_group(std::mt19937_64& random, const Kind& kind, Tally& tally) {
  constexpr int kSums = even_odd ? 2 : 1;
  static A a;
  static B b;
  fill<f>(random, kind, a);
  fill<f>(random, kind, b);
  const QuadOperands quad = {
      a.value, a.level, b.value, b.level, kQuad, kColumns, a.top_exponent + b.top_exponent};
  if (quad.top_exponent >= kQuadTopExponent) return;
  Sum fast[kSums][kQuad];
  for (int i = 0; i < kSums; ++i) sum_quad<group / kSums, kSums>(quad, i, fast[i]);
  for (int r = 0; r < kQuad; ++r) {
    const Operands row = {a.value + r, a.exponent + r, a.magnitude + r, a.negative + r, b.value,
                          b.exponent,  b.magnitude,    b.negative,      kQuad,          kColumns};
    V16f c;
    for (int j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int k = 0; k < group; ++k) {
        sum += static_cast<double>(a.value[k * kQuad + r]) *
               static_cast<double>(b.value[k * kColumns + j]);
      }
      c[j] = draw_addend(random, sum);
    }
    V16f slow = c;
    add_group<group, even_odd>(row, 0, V16i{}, true, slow);
    tally.all += kColumns;
    Sum sums[kSums];
    V16i refused = {};
    for (int i = 0; i < kSums; ++i) {
      sums[i] = fast[i][r];
      refused |= low_is_wrong<group / kSums, kSums>(quad, i, r, sums[i].exponent, V16i{}, c);
    }
    const V16f quick = add_rounded_fast(c, sums, refused);
    for (int j = 0; j < kColumns; ++j) {
      if (refused[j]) continue;
      ++tally.fast;
      if (bits_as<V16i>(quick)[j] == bits_as<V16i>(slow)[j]) continue;
      if (++tally.wrong <= 3) {
        UNSCOPED_INFO(std::hexfloat << "c " << c[j] << ": " << quick[j] << " is not " << slow[j]);
      }
    }
  }
}

template <const Format& f, int group, bool even_odd>
void compare(const char* what) {
  for (size_t kind = 0; kind < std::size(kKinds); ++kind) {
    const uint64_t seed = 1 + kind;
    std::mt19937_64 random(seed);
    Tally tally;
    for (int n = 0; n < 3000; ++n) compare_group<f, group, even_odd>(random, kKinds[kind], tally);
    INFO(what << ", kind " << kind << ", seed " << seed << ": " << tally.wrong << " wrong of "
              << tally.fast << " of " << tally.all);
    CHECK(tally.wrong == 0);
    // Not all of it is refused, but where exponents spread over all that the format has.
    if (kKinds[kind].spread < 100) CHECK(tally.fast * 3 > tally.all);
  }
}

TEST_CASE("the fast way of a matrix instruction has the slow one's bits", "[emulator][mfma]") {
  // Other tests leave the host's mode as a kernel's MODE says.
  emulator::apply_float_mode(emulator::kModeDefaultFloat);
  compare<kBf16, 8, false>("bf16");
  compare<kBf16, 4, false>("bf16, groups of 4");
  compare<kF16, 8, false>("fp16");
  compare<kFp8, 16, true>("fp8");
  compare<kBf8, 16, true>("bf8");
  compare<kBf6, 16, true>("bf6");
  compare<kFp4, 16, true>("fp4");
}

}  // namespace
}  // namespace baton::tests
