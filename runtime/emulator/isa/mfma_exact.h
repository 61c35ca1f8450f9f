// The arithmetic of a dot product on the matrix core, as published for CDNA3: a group's products
// are aligned to the largest exponent and truncated, summed exactly, aligned with the accumulator
// and rounded once. Sixteen columns at a time.
#pragma once

#include "runtime/emulator/isa/float32.h"
#include "runtime/emulator/isa/mfma_formats.h"

namespace baton::emulator::BATON_ISA {

inline constexpr int kColumns = 16;
using V16i [[gnu::vector_size(64)]] = int32_t;
using V16u [[gnu::vector_size(64)]] = uint32_t;
using V16f [[gnu::vector_size(64)]] = float;
using V16l [[gnu::vector_size(128)]] = int64_t;
using V16d [[gnu::vector_size(128)]] = double;

inline constexpr int kSumBits = 24;     ///< fraction bits of an aligned product
inline constexpr int kGuardBits = 32;   ///< of the sum when it meets the accumulator
inline constexpr int kAddendBits = 24;  ///< of the accumulator then
inline constexpr int kResultBits = 31;  ///< of the total before it is rounded

/// Both operands of a group. Magnitudes, which only the careful way needs, are scaled so that a
/// product has kSumBits fraction bits.
struct Operands {
  const float* a_value;  ///< [k * a_stride], one row
  const int32_t* a_exponent;
  const int32_t* a_magnitude;
  const int32_t* a_negative;
  const float* b_value;  ///< [k * b_stride + column]
  const int32_t* b_exponent;
  const int32_t* b_magnitude;
  const int32_t* b_negative;
  int a_stride, b_stride;
};

/// A sum of products with kSumBits fraction bits, relative to 2^exponent.
struct Sum {
  V16i value;
  V16i exponent;
};

template <typename To, typename From>
BATON_INLINE To bits_as(From x) {
  return __builtin_bit_cast(To, x);
}

BATON_INLINE V16i load16(const int32_t* p) {
  V16i v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}

BATON_INLINE V16f load16(const float* p) {
  V16f v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
/// All sixteen the same; 0 + x would lose the sign of -0.
BATON_INLINE V16f splat(float x) { return bits_as<V16f>(V16i{} + __builtin_bit_cast(int32_t, x)); }
BATON_INLINE bool any(V16i mask) { return __builtin_reduce_or(mask) != 0; }

/// Below this exponent a product may be an fp32 subnormal, and be rounded before it is truncated.
inline constexpr int kLowestExponent = -100;

/// Products k, k + step, ... (count of them), aligned and truncated toward zero: exact fp32
/// products, scaled by a power of two, and the conversion that truncates. False when a product is
/// too small for that.
template <int count, int step>
BATON_INLINE bool sum_products_fast(const Operands& o, int k, Sum& sum) {
  V16i top;
  for (int i = 0; i < count; ++i) {
    const int ak = (k + i * step) * o.a_stride, bk = (k + i * step) * o.b_stride;
    const V16i exponent = load16(o.b_exponent + bk) + o.a_exponent[ak];
    top = i == 0 ? exponent : __builtin_elementwise_max(top, exponent);
  }
  const V16i low = top < kLowestExponent;
  const V16i limited = __builtin_elementwise_max(top, V16i{} + kLowestExponent);
  const V16f scale = bits_as<V16f>((kSumBits + 127 - limited) << 23);
  V16i total = {};
  for (int i = 0; i < count; ++i) {
    const int ak = (k + i * step) * o.a_stride, bk = (k + i * step) * o.b_stride;
    const V16f product = load16(o.b_value + bk) * o.a_value[ak];
    total += __builtin_convertvector(product * scale, V16i);
  }
  sum = {total, top};
  if (!any(low)) [[likely]]
    return true;
  V16i nonzero = {};
  for (int i = 0; i < count; ++i) {
    const int ak = (k + i * step) * o.a_stride, bk = (k + i * step) * o.b_stride;
    if (o.a_value[ak] != 0.0f) nonzero |= load16(o.b_value + bk) != 0.0f;
  }
  return !any(low & nonzero);
}

/// The same by integers, for any finite operands.
template <int count, int step>
BATON_INLINE Sum sum_products(const Operands& o, int k) {
  V16i magnitude[count], exponent[count], negative[count];
  V16i top;
  for (int i = 0; i < count; ++i) {
    const int ak = (k + i * step) * o.a_stride, bk = (k + i * step) * o.b_stride;
    magnitude[i] = load16(o.b_magnitude + bk) * o.a_magnitude[ak];
    exponent[i] = load16(o.b_exponent + bk) + o.a_exponent[ak];
    negative[i] = load16(o.b_negative + bk) ^ o.a_negative[ak];
    top = i == 0 ? exponent[0] : __builtin_elementwise_max(top, exponent[i]);
  }
  V16i sum = {};
  for (int i = 0; i < count; ++i) {
    const V16i shift = __builtin_elementwise_min(top - exponent[i], V16i{} + 31);
    const V16i aligned = bits_as<V16i>(bits_as<V16u>(magnitude[i]) >> bits_as<V16u>(shift));
    sum += (aligned ^ negative[i]) - negative[i];
  }
  return {sum, top};
}

BATON_INLINE V16d power_of_two64(V16i exponent) {
  const V16i limited = __builtin_elementwise_max(exponent, V16i{} - 1022);
  return bits_as<V16d>((__builtin_convertvector(limited, V16l) + 1023) << 52);
}

/// c plus the sums, rounded once. A c that is not finite stays as it is. All steps are exact in
/// double but for the floors and the last rounding.
template <int sums>
BATON_INLINE V16f add_rounded(V16f c, const Sum (&s)[sums]) {
  const V16i bits = bits_as<V16i>(c);
  const V16i field = (bits >> 23) & 0xff;
  V16i top = field - 127 - (field == 0);
  for (int i = 0; i < sums; ++i) top = __builtin_elementwise_max(top, s[i].exponent);
  constexpr double kAddendUnit = 1 << (kGuardBits - kAddendBits);
  V16d total = __builtin_elementwise_floor(__builtin_convertvector(c, V16d) *
                                           power_of_two64(kAddendBits - top)) *
               kAddendUnit;
  for (int i = 0; i < sums; ++i) {
    total +=
        __builtin_elementwise_floor(__builtin_convertvector(s[i].value, V16d) *
                                    power_of_two64(kGuardBits - kSumBits + s[i].exponent - top));
  }
  constexpr double kHalve = 1.0 / (1 << (kGuardBits - kResultBits));
  const V16d exact =
      __builtin_elementwise_floor(total * kHalve) * power_of_two64(top - kResultBits);
  const V16f rounded = __builtin_convertvector(exact, V16f);
  const V16i keep = field == 0xff;
  return bits_as<V16f>((bits_as<V16i>(rounded) & ~keep) | (bits & keep));
}

/// One group of a row for sixteen columns. fp8 sums even and odd k apart. `careful`: by integers;
/// false is returned when that is needed.
template <int group, bool even_odd>
BATON_INLINE bool add_group(const Operands& o, int k, V16i scale, bool careful, V16f& c) {
  constexpr int kSums = even_odd ? 2 : 1;
  Sum s[kSums];
  bool fine = true;
  for (int i = 0; i < kSums; ++i) {
    if (careful) {
      s[i] = sum_products<group / kSums, kSums>(o, k + i);
    } else {
      fine &= sum_products_fast<group / kSums, kSums>(o, k + i, s[i]);
    }
    s[i].exponent += scale;
  }
  if (!fine) return false;
  c = add_rounded(c, s);
  return true;
}

}  // namespace baton::emulator::BATON_ISA
