// The element formats of matrix instructions, taken apart: value = magnitude 2^(exponent -
// fraction).
#pragma once

#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {

/// How a format spells infinity and NaN.
enum class Specials : uint8_t {
  ieee,      ///< the top exponent
  nan_only,  ///< E4M3: all ones is NaN, no infinity
  fnuz,      ///< the pattern of -0 is NaN, no infinity
  none,      ///< fp6 and fp4
};

struct Format {
  int bits, exponent_bits, fraction_bits, bias;
  Specials specials;
};

inline constexpr Format kBf16 = {16, 8, 7, 127, Specials::ieee};
inline constexpr Format kF16 = {16, 5, 10, 15, Specials::ieee};
inline constexpr Format kFp8 = {8, 4, 3, 7, Specials::nan_only};
inline constexpr Format kBf8 = {8, 5, 2, 15, Specials::ieee};
inline constexpr Format kFp8Fnuz = {8, 4, 3, 8, Specials::fnuz};
inline constexpr Format kBf8Fnuz = {8, 5, 2, 16, Specials::fnuz};
inline constexpr Format kFp6 = {6, 2, 3, 1, Specials::none};
inline constexpr Format kBf6 = {6, 3, 2, 3, Specials::none};
inline constexpr Format kFp4 = {4, 2, 1, 1, Specials::none};

/// A number taken apart. A subnormal has the exponent of the smallest normal number, zero too.
struct Part {
  int32_t magnitude;
  int32_t exponent;
  int32_t negative;  ///< 0 or -1
  bool special;      ///< infinity or NaN
};

BATON_INLINE Part take_apart(uint32_t x, const Format& f) {
  const uint32_t fraction = x & ((1u << f.fraction_bits) - 1);
  const uint32_t field = (x >> f.fraction_bits) & ((1u << f.exponent_bits) - 1);
  const uint32_t top = (1u << f.exponent_bits) - 1;
  const uint32_t sign = (x >> (f.bits - 1)) & 1;
  Part p;
  p.magnitude = static_cast<int32_t>(fraction | (field ? 1u << f.fraction_bits : 0));
  p.exponent = static_cast<int32_t>(field ? field : 1) - f.bias;
  p.negative = -static_cast<int32_t>(sign);
  switch (f.specials) {
    case Specials::ieee:
      p.special = field == top;
      break;
    case Specials::nan_only:
      p.special = field == top && fraction == (1u << f.fraction_bits) - 1;
      break;
    case Specials::fnuz:
      p.special = sign && field == 0 && fraction == 0;
      break;
    case Specials::none:
      p.special = false;
      break;
  }
  return p;
}

/// The same as fp32: exact for every format.
BATON_INLINE float value_of(uint32_t x, const Format& f) {
  const Part p = take_apart(x, f);
  if (p.special) {
    const uint32_t fraction = x & ((1u << f.fraction_bits) - 1);
    if (f.specials == Specials::ieee && fraction == 0) {
      return as_f32((p.negative ? 0x80000000u : 0) | 0x7f800000u);
    }
    return as_f32(0x7fc00000);
  }
  const float magnitude =
      __builtin_ldexpf(static_cast<float>(p.magnitude), p.exponent - f.fraction_bits);
  return p.negative ? -magnitude : magnitude;
}

}  // namespace baton::emulator::BATON_ISA
