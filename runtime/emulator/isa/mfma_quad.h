// The fast way through the arithmetic of mfma_exact.h: four rows by sixteen columns at a time, in
// fp32 and 32-bit integers, with the same bits as a result. What it cannot do exactly it refuses,
// and the caller goes the slow way.
//
// Why the bits are the same. E is a group's largest exponent, ec the accumulator's, E' the larger.
// - A product of two numbers with at most 12 significant bits is exact in fp32; scaled by
//   2^(24 - E) it stays below 2^26, so that the truncating conversion to an integer is the
//   truncation to 24 fraction bits. Products below fp32's normal range truncate to 0 whatever the
//   scaling loses of them, because E >= kLowestExponent. Sums are exact: |S| < 2^29 for 8 products.
// - An exponent that is less than can be said here is raised. That is right for a sum of zeros,
// when
//   the accumulator is zero or its exponent is not below the raised one: E' is ec either way.
// - Even and odd sums of a narrow format (fp8 and below) are brought to their common E only where
//   that loses no bit (else: refused), and then have at most 30 bits.
// - Let d = ec - E and e = max(d - h, 0), where h = 5 (one sum) or 4 (two). The accumulator counts
//   in units of 2^(E + e - 24): it is below 2^(24 + h + 1), and floor() of it is its floor to 24
//   fraction bits when E' = E, and nothing when E' = ec, for then it is a multiple of the unit.
// - e = 0: all parts are multiples of 2^(E - 24), which is not below 2^(E' - 29): the floors to 32
//   and 31 fraction bits change nothing, the integer total is exact, and its conversion rounds
//   once.
// - e > 0: the sum is shifted down by e. Bits that lie at or above 2^(E' - 31) and are lost are
//   collected in the total's lowest bit; those below are floored away, as the rule says. With two
//   sums, each is floored to 2^(E' - 32) first. A collected bit rounds right when the result's last
//   place is above it: the accumulator is at least 2^(24 + h), a sum at most half of it, so the
//   total has 28 bits or more; with two sums this is checked.
#pragma once

#include "runtime/emulator/isa/mfma_exact.h"

namespace baton::emulator::BATON_ISA {

inline constexpr int kQuad = 4;
using V64b [[gnu::vector_size(64)]] = int8_t;
using V16b [[gnu::vector_size(16)]] = int8_t;

/// Levels are exponents less the operand's largest, but not below this.
inline constexpr int kLowestLevel = -63;
/// The sum of both operands' largest exponents must lie below.
inline constexpr int kQuadTopExponent = 120;

/// Four rows of A and sixteen columns of B.
struct QuadOperands {
  const float* a_value;  ///< [k * a_stride + row]
  const int8_t* a_level;
  const float* b_value;  ///< [k * b_stride + column]
  const int8_t* b_level;
  int a_stride, b_stride;
  int top_exponent;  ///< both largest exponents together
};

/// A byte a row to sixteen bytes a row.
BATON_INLINE V64b spread_rows(const int8_t* four) {
  int32_t word;
  __builtin_memcpy(&word, four, sizeof(word));
  const V64b v = bits_as<V64b>(V16i{} + word);
  return __builtin_shufflevector(v, v, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 17, 17,
                                 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 34, 34, 34, 34,
                                 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 51, 51, 51, 51, 51,
                                 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51);
}
/// Sixteen bytes, the same for each row.
BATON_INLINE V64b spread_columns(const int8_t* sixteen) {
  V16b v;
  __builtin_memcpy(&v, sixteen, sizeof(v));
  return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1,
                                 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5,
                                 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                 10, 11, 12, 13, 14, 15);
}

/// The least exponent that a sum may have here: above what levels cut off, and enough for fp32
/// products.
BATON_INLINE int least_exponent(int top_exponent) {
  const int above_cut = top_exponent + kLowestLevel + 1;
  return above_cut > kLowestExponent ? above_cut : kLowestExponent;
}

/// Products k, k + step, ... (count of them) of each row. An exponent that is less than may be is
/// raised to the least one: then only a sum of zeros is right. True when one is the least.
template <int count, int step>
BATON_INLINE bool sum_quad(const QuadOperands& o, int k, Sum (&sum)[kQuad]) {
  V64b level = {};
  for (int i = 0; i < count; ++i) {
    const V64b a = spread_rows(o.a_level + (k + i * step) * o.a_stride);
    const V64b both = a + spread_columns(o.b_level + (k + i * step) * o.b_stride);
    level = i == 0 ? both : __builtin_elementwise_max(level, both);
  }
  int8_t levels[kQuad][kColumns];
  __builtin_memcpy(levels, &level, sizeof(level));
  const int least = least_exponent(o.top_exponent);
  V16f scale[kQuad];
  V16i low = {};
  for (int r = 0; r < kQuad; ++r) {
    V16b row;
    __builtin_memcpy(&row, levels[r], sizeof(row));
    const V16i exponent = __builtin_convertvector(row, V16i) + o.top_exponent;
    low |= exponent <= least;
    sum[r].exponent = __builtin_elementwise_max(exponent, V16i{} + least);
    sum[r].value = V16i{};
    scale[r] = bits_as<V16f>((kSumBits + 127 - sum[r].exponent) << 23);
  }
  for (int i = 0; i < count; ++i) {
    const V16f b = load16(o.b_value + (k + i * step) * o.b_stride);
    const float* a = o.a_value + (k + i * step) * o.a_stride;
    for (int r = 0; r < kQuad; ++r) {
      sum[r].value += __builtin_convertvector(b * a[r] * scale[r], V16i);
    }
  }
  return any(low);
}

/// Of row r and the sum that starts at k, which has the exponents `exponent`: lanes whose exponent
/// is the least, and in which a product is not zero, or the accumulator's exponent is less, so that
/// its floor is not known.
template <int count, int step>
BATON_INLINE V16i low_is_wrong(const QuadOperands& o, int k, int r, V16i exponent, V16i scale,
                               V16f c) {
  const V16i bits = bits_as<V16i>(c);
  V16i wrong = ((bits << 1) != 0) & (((bits >> 23) & 0xff) - 127 < exponent + scale);
  for (int i = 0; i < count; ++i) {
    const V16i nonzero = load16(o.b_value + (k + i * step) * o.b_stride) != 0.0f;
    if (o.a_value[(k + i * step) * o.a_stride + r] != 0.0f) wrong |= nonzero;
  }
  return wrong & (exponent == least_exponent(o.top_exponent));
}

/// One of two sums in units of the common exponent's; `lost` collects bits that do not fit.
BATON_INLINE V16i shifted_to(const Sum& s, V16i exponent, V16i& lost) {
  const V16i by = __builtin_elementwise_min(exponent - s.exponent, V16i{} + 31);
  const V16i shifted = s.value >> by;
  lost |= (shifted << by) ^ s.value;
  return shifted;
}

/// c plus the sums, rounded once; lanes of `refused` must be made otherwise.
template <int sums>
BATON_INLINE V16f add_rounded_fast(V16f c, const Sum (&s)[sums], V16i& refused) {
  constexpr int kHead = sums == 1 ? 5 : 4, kTail = kResultBits - kSumBits - kHead;
  V16i exponent = s[0].exponent, total = s[0].value;
  const V16i bits = bits_as<V16i>(c);
  const V16i field = (bits >> 23) & 0xff;
  if constexpr (sums == 2) exponent = __builtin_elementwise_max(exponent, s[1].exponent);
  // A subnormal's exponent is one more than said here; no matter, see `far`.
  const V16i d = field - 127 - exponent;
  V16i e = __builtin_elementwise_max(d - kHead, V16i{});
  const V16i unit = exponent + e - kSumBits;
  if constexpr (sums == 2) {
    V16i lost = {};
    const V16i even = shifted_to(s[0], exponent, lost), odd = shifted_to(s[1], exponent, lost);
    refused |= lost != 0;
    constexpr int kGuard = kGuardBits - kSumBits;
    const V16i floored = __builtin_elementwise_max(d - kGuard, V16i{});
    const V16i shift = __builtin_elementwise_min(floored, V16i{} + 31);
    total = (even >> shift) + (odd >> shift);
    e -= floored;
  }
  const V16i by = __builtin_elementwise_min(e, V16i{} + 31);
  const V16i over = __builtin_elementwise_max(by - kTail, V16i{});
  const V16i mask = ((V16i{} + 1) << __builtin_elementwise_min(by, V16i{} + kTail)) - 1;
  const V16i sticky = (((total >> over) & mask) != 0) & 1;
  const V16f addend = __builtin_elementwise_floor(c * bits_as<V16f>((127 - unit) << 23));
  total = ((total >> by) + __builtin_convertvector(addend, V16i)) | sticky;
  if constexpr (sums == 2) {
    const V16i size = total ^ (total >> 31);
    refused |= (e > 0) & (size < (1 << 25));
  }
  // So far below the sums that the scaled number may leave fp32's range, and its floor with it; or
  // no number at all.
  constexpr int kFar = 90;
  const V16i far = ((d < -kFar) & ((bits << 1) != 0)) | (field == 0xff);
  refused |= far;
  return __builtin_convertvector(total, V16f) * bits_as<V16f>((127 + unit) << 23);
}

/// A group of four rows for sixteen columns; false when it must be made the slow way.
template <int group, bool even_odd>
BATON_INLINE bool add_quad(const QuadOperands& o, int k, const V16i (&scale)[kQuad],
                           V16f (&c)[kQuad]) {
  constexpr int kSums = even_odd ? 2 : 1, kCount = group / kSums;
  Sum s[kSums][kQuad];
  V16i refused = {};
  for (int i = 0; i < kSums; ++i) {
    if (!sum_quad<kCount, kSums>(o, k + i, s[i])) [[likely]]
      continue;
    for (int r = 0; r < kQuad; ++r) {
      refused |= low_is_wrong<kCount, kSums>(o, k + i, r, s[i][r].exponent, scale[r], c[r]);
    }
  }
  V16f next[kQuad];
  for (int r = 0; r < kQuad; ++r) {
    Sum row[kSums];
    for (int i = 0; i < kSums; ++i) row[i] = {s[i][r].value, s[i][r].exponent + scale[r]};
    next[r] = add_rounded_fast(c[r], row, refused);
    if constexpr (even_odd) {
      // A scale may take the exponent to where fp32's range ends.
      refused |= (row[0].exponent < kLowestExponent) | (row[0].exponent > kQuadTopExponent) |
                 (row[1].exponent < kLowestExponent) | (row[1].exponent > kQuadTopExponent);
    }
  }
  if (any(refused)) return false;
  for (int r = 0; r < kQuad; ++r) c[r] = next[r];
  return true;
}

}  // namespace baton::emulator::BATON_ISA
