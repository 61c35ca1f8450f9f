// bf16 on the host, independent of the DSL: storage as 16 bits, rounding to nearest even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace baton::reference {

/// The bits of a bf16.
using Bf16 = uint16_t;

inline float to_float(Bf16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

/// Nearest even; a NaN stays a NaN.
inline Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<Bf16>((bits >> 16) | 0x40);
  return static_cast<Bf16>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

/// From double in one rounding: a double is first cut to an fp32 that keeps a sticky last bit.
inline Bf16 to_bf16(double value) {
  auto cut = static_cast<float>(value);
  if (std::isfinite(cut) && static_cast<double>(cut) != value) {
    if (std::fabs(static_cast<double>(cut)) > std::fabs(value)) cut = std::nextafterf(cut, 0.0f);
    cut = std::bit_cast<float>(std::bit_cast<uint32_t>(cut) | 1u);
  }
  return to_bf16(cut);
}

}  // namespace baton::reference
