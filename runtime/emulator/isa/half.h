// Conversions between fp32 and the 16-bit formats, exact, round to nearest even, subnormals kept.
#pragma once

#include <cstdint>

#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {

BATON_INLINE float f16_to_f32(uint16_t h) {
  const uint32_t sign = uint32_t{h & 0x8000u} << 16;
  const uint32_t magnitude = h & 0x7fffu;
  // A subnormal's value is its integer times 2^-24; the others only need their exponent re-based.
  const uint32_t small = as_u32(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t normal = (magnitude << 13) + (112u << 23);
  const uint32_t special = (magnitude << 13) | 0x7f800000u | (magnitude > 0x7c00 ? 0x400000u : 0);
  const uint32_t m = magnitude < 0x400 ? small : magnitude < 0x7c00 ? normal : special;
  return as_f32(sign | m);
}

BATON_INLINE uint16_t f32_to_f16(float x) {
  const uint32_t bits = as_u32(x);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t m = bits & 0x7fffffff;
  // Adding 0.5 to a value below 2^-14 leaves the subnormal half's bits, rounded, at the bottom.
  const uint32_t small = as_u32(as_f32(m) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (m + 0xfffu + ((m >> 13) & 1) - (112u << 23)) >> 13;
  const uint32_t nan = 0x7e00u | ((m >> 13) & 0x3ff);
  uint32_t h = m < 0x38800000u ? small : normal;
  h = m >= 0x477ff000u ? 0x7c00u : h;
  h = m > 0x7f800000u ? nan : h;
  return static_cast<uint16_t>(sign | h);
}

BATON_INLINE float bf16_to_f32(uint32_t h) { return as_f32(h << 16); }

BATON_INLINE uint32_t f32_to_bf16(float x) {
  const uint32_t bits = as_u32(x);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40;
  return (bits & 0x7fffffff) > 0x7f800000 ? nan : rounded;
}

}  // namespace baton::emulator::BATON_ISA
