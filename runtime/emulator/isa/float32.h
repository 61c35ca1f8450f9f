// fp32 rules that several families share.
#pragma once

#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {

inline constexpr uint32_t kQuiet = 0x400000;
inline constexpr uint32_t kDefaultNan = 0x7fc00000;
inline constexpr uint32_t kInfinity = 0x7f800000;

BATON_INLINE bool is_nan(uint32_t x) { return (x & 0x7fffffff) > kInfinity; }
BATON_INLINE bool is_signaling(uint32_t x) { return is_nan(x) && !(x & kQuiet); }

BATON_INLINE bool any_nan(const uint32_t* r) {
  uint32_t any = 0;
  for (int i = 0; i < kLanes; ++i) any |= (r[i] & 0x7fffffff) > kInfinity;
  return any;
}

/// The NaN that an arithmetic instruction returns: its first NaN source, quieted, else the default.
BATON_INLINE uint32_t nan_of(uint32_t a, uint32_t b, uint32_t c) {
  if (is_nan(a)) return a | kQuiet;
  if (is_nan(b)) return b | kQuiet;
  if (is_nan(c)) return c | kQuiet;
  return kDefaultNan;
}

/// min and max by bits: -0 lies below +0; a NaN loses against a number. With MODE.IEEE a signalling
/// NaN wins, quieted.
BATON_INLINE uint32_t order_key(uint32_t x) {
  return x ^ (static_cast<uint32_t>(static_cast<int32_t>(x) >> 31) | 0x80000000u);
}
BATON_INLINE uint32_t min_number(uint32_t a, uint32_t b) {
  const uint32_t r = order_key(a) < order_key(b) ? a : b;
  return is_nan(a) ? b : is_nan(b) ? a : r;
}
BATON_INLINE uint32_t max_number(uint32_t a, uint32_t b) {
  const uint32_t r = order_key(a) > order_key(b) ? a : b;
  return is_nan(a) ? b : is_nan(b) ? a : r;
}

}  // namespace baton::emulator::BATON_ISA
