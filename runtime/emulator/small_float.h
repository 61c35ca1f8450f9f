// Numbers of 4 to 16 bits from and to double: compiled once, used by the conversions.
#pragma once

#include <cstdint>

namespace baton::emulator {

enum class SmallFloat : uint8_t { f16, bf16, fp8, bf8, fp8_fnuz, bf8_fnuz, fp6, bf6, fp4 };

int bits_of(SmallFloat format);

double small_to_double(SmallFloat format, uint32_t bits);

/// Rounded to nearest even. Beyond the largest number: that number when `saturate` is set or the
/// format has nothing above it, else infinity, or NaN where there is no infinity.
uint32_t double_to_small(SmallFloat format, double x, bool saturate);

/// Rounded by adding `random`'s high bits, as many as fp32's fraction has more than the format's,
/// below the last place.
uint32_t double_to_small_stochastic(SmallFloat format, double x, uint32_t random, bool saturate);

}  // namespace baton::emulator
