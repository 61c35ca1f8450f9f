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

/// Both operands of a group, already taken apart; magnitudes are scaled so that a product has
/// kSumBits fraction bits.
struct Operands {
  const int32_t* a_magnitude;  ///< [k * a_stride], one row
  const int32_t* a_exponent;
  const int32_t* a_negative;
  const int32_t* b_magnitude;  ///< [k * b_stride + column]
  const int32_t* b_exponent;
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

/// Products k, k + step, ... (count of them), aligned and truncated toward zero.
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

BATON_INLINE V16l shift_down(V16l x, V16i by) {
  const V16i limited = __builtin_elementwise_min(by, V16i{} + 63);
  return x >> __builtin_convertvector(limited, V16l);
}

/// c plus the sums, rounded once. A c that is not finite stays as it is.
template <int sums>
BATON_INLINE V16f add_rounded(V16f c, const Sum (&s)[sums]) {
  const V16i bits = bits_as<V16i>(c);
  const V16i field = (bits >> 23) & 0xff;
  const V16i subnormal = field == 0;
  const V16i c_exponent = field - 127 - subnormal;
  const V16i significand = (bits & 0x7fffff) | (~subnormal & 0x800000);
  const V16i sign = bits >> 31;
  const V16i c_signed = (significand ^ sign) - sign;
  V16i top = c_exponent;
  for (int i = 0; i < sums; ++i) top = __builtin_elementwise_max(top, s[i].exponent);
  constexpr int kFraction32 = 23;
  const V16l addend = shift_down(
      __builtin_convertvector(c_signed, V16l) << (kAddendBits - kFraction32), top - c_exponent);
  V16l total = addend << (kGuardBits - kAddendBits);
  for (int i = 0; i < sums; ++i) {
    total += shift_down(__builtin_convertvector(s[i].value, V16l) << (kGuardBits - kSumBits),
                        top - s[i].exponent);
  }
  total >>= kGuardBits - kResultBits;
  const V16l scale_bits = (__builtin_convertvector(top, V16l) + (1023 - kResultBits)) << 52;
  const V16d exact = __builtin_convertvector(total, V16d) * bits_as<V16d>(scale_bits);
  const V16f rounded = __builtin_convertvector(exact, V16f);
  const V16i keep = field == 0xff;
  return bits_as<V16f>((bits_as<V16i>(rounded) & ~keep) | (bits & keep));
}

/// One group of a row for sixteen columns. fp8 sums even and odd k apart.
template <int group, bool even_odd>
BATON_INLINE V16f add_group(V16f c, const Operands& o, int k, V16i scale) {
  if constexpr (even_odd) {
    Sum s[2] = {sum_products<group / 2, 2>(o, k), sum_products<group / 2, 2>(o, k + 1)};
    s[0].exponent += scale;
    s[1].exponent += scale;
    return add_rounded(c, s);
  } else {
    Sum s[1] = {sum_products<group, 1>(o, k)};
    s[0].exponent += scale;
    return add_rounded(c, s);
  }
}

}  // namespace baton::emulator::BATON_ISA
