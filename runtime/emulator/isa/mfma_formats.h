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

}  // namespace baton::emulator::BATON_ISA
