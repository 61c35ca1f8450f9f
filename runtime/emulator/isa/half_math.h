// fp16 arithmetic on bits, each operation rounded once to nearest even.
#pragma once

#include "runtime/emulator/isa/half.h"

namespace baton::emulator::BATON_ISA {

BATON_INLINE bool half_is_nan(uint32_t h) { return (h & 0x7fff) > 0x7c00; }
BATON_INLINE uint32_t half_nan_of(uint32_t a, uint32_t b, uint32_t c) {
  return half_is_nan(a)   ? a | 0x200
         : half_is_nan(b) ? b | 0x200
         : half_is_nan(c) ? c | 0x200
                          : 0x7e00;
}
BATON_INLINE float half_value(uint32_t h) { return f16_to_f32(static_cast<uint16_t>(h)); }
BATON_INLINE uint32_t half_result(float x, uint32_t a, uint32_t b, uint32_t c) {
  return x != x ? half_nan_of(a, b, c) : f32_to_f16(x);
}

// fp32 has more than twice fp16's precision plus two: rounding a sum, product or quotient to fp32
// first changes nothing.
inline uint32_t half_add(uint32_t a, uint32_t b) {
  return half_result(half_value(a) + half_value(b), a, b, a);
}
inline uint32_t half_mul(uint32_t a, uint32_t b) {
  return half_result(half_value(a) * half_value(b), a, b, a);
}
/// The product is exact in fp64; the sum's lost bits are kept as one sticky bit.
inline uint32_t half_fma(uint32_t a, uint32_t b, uint32_t c) {
  const double product = static_cast<double>(half_value(a)) * static_cast<double>(half_value(b));
  const double addend = static_cast<double>(half_value(c));
  const double sum = product + addend;
  const double back = sum - product;
  const double lost = (product - (sum - back)) + (addend - back);
  uint64_t bits = as_u64(sum);
  if (lost != 0 && !(bits & 1) && lost == lost) {
    const bool away = (lost > 0) == (sum > 0);
    bits = away ? bits | 1 : bits - 1;
  }
  const double odd = as_f64(bits);
  if (odd != odd) return half_nan_of(a, b, c);
  // fp32 by the same rule: its dropped bits become its last bit.
  const float narrow = static_cast<float>(odd);
  uint32_t f = as_u32(narrow);
  const double error = odd - static_cast<double>(narrow);
  if (error != 0 && !(f & 1) && (f & 0x7fffffff) < 0x7f800000) {
    f = (error > 0) == (odd > 0) ? f | 1 : f - 1;
  }
  return f32_to_f16(as_f32(f));
}

BATON_INLINE int32_t half_key(uint32_t h) {
  return h & 0x8000 ? -static_cast<int32_t>(h & 0x7fff) - 1 : static_cast<int32_t>(h & 0x7fff);
}
inline uint32_t half_min(uint32_t a, uint32_t b) {
  if (half_is_nan(a)) return b;
  if (half_is_nan(b)) return a;
  return half_key(a) < half_key(b) ? a : b;
}
inline uint32_t half_max(uint32_t a, uint32_t b) {
  if (half_is_nan(a)) return b;
  if (half_is_nan(b)) return a;
  return half_key(a) > half_key(b) ? a : b;
}
inline uint32_t half_minimum3(uint32_t a, uint32_t b, uint32_t c) {
  const bool nan = half_is_nan(a) || half_is_nan(b) || half_is_nan(c);
  return nan ? half_nan_of(a, b, c) : half_min(half_min(a, b), c);
}
inline uint32_t half_maximum3(uint32_t a, uint32_t b, uint32_t c) {
  const bool nan = half_is_nan(a) || half_is_nan(b) || half_is_nan(c);
  return nan ? half_nan_of(a, b, c) : half_max(half_max(a, b), c);
}

}  // namespace baton::emulator::BATON_ISA
