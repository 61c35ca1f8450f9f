// MODE's rounding and denormal fields on the host's floating-point unit.
#pragma once

#include <xmmintrin.h>

#include <cstdint>

#include "runtime/emulator/wave.h"

namespace baton::emulator {

/// `round` and `denormals` are MODE's two-bit fields.
inline __attribute__((always_inline)) uint32_t host_float_mode(uint32_t round, uint32_t denormals) {
  constexpr uint32_t kRound[] = {0, 2, 1, 3};  // nearest, +inf, -inf, zero
  constexpr uint32_t kMasked = 0x1f80, kFlushOut = 0x8000, kFlushIn = 0x40;
  uint32_t mode = kMasked | kRound[round & 3] << 13;
  if (!(denormals & 1)) mode |= kFlushIn;
  if (!(denormals & 2)) mode |= kFlushOut;
  return mode;
}

/// For what works on fp32.
inline __attribute__((always_inline)) void apply_float_mode(uint32_t mode) {
  _mm_setcsr(host_float_mode(mode & 3, (mode >> 4) & 3));
}

/// For the length of an fp64 or fp16 instruction, whose fields are others.
class WideFloatMode {
 public:
  explicit __attribute__((always_inline)) WideFloatMode(const Wave& w) : mode_(w.mode) {
    if ((mode_ & 0xff) != kModeDefaultFloat) {
      _mm_setcsr(host_float_mode((mode_ >> 2) & 3, (mode_ >> 6) & 3));
    }
  }
  __attribute__((always_inline)) ~WideFloatMode() {
    if ((mode_ & 0xff) != kModeDefaultFloat) apply_float_mode(mode_);
  }
  WideFloatMode(const WideFloatMode&) = delete;
  WideFloatMode& operator=(const WideFloatMode&) = delete;

 private:
  uint32_t mode_;
};

}  // namespace baton::emulator
