// Operands of matrix instructions, out of their lanes.
#pragma once

#include "runtime/emulator/float_mode.h"
#include "runtime/emulator/isa/half.h"
#include "runtime/emulator/isa/mfma_quad.h"

namespace baton::emulator::BATON_ISA {

/// For the length of a matrix instruction: it rounds to nearest even and keeps subnormals, whatever
/// MODE says.
class MatrixFloatMode {
 public:
  explicit BATON_INLINE MatrixFloatMode(const Wave& w) : mode_(w.mode) {
    if ((mode_ & kFp32Fields) != kNearestKept) _mm_setcsr(host_float_mode(0, 3));
  }
  BATON_INLINE ~MatrixFloatMode() {
    if ((mode_ & kFp32Fields) != kNearestKept) apply_float_mode(mode_);
  }
  MatrixFloatMode(const MatrixFloatMode&) = delete;
  MatrixFloatMode& operator=(const MatrixFloatMode&) = delete;

 private:
  static constexpr uint32_t kFp32Fields = 0x33, kNearestKept = 0x30;
  uint32_t mode_;
};

/// An operand, k-major: element (k, r) at [k * width + r], where r counts the rows (columns of B)
/// of all blocks. As numbers, or taken apart. Sixteen more elements may be read behind the end.
template <int k, int width>
struct Matrix {
  static constexpr int kSize = k * width + kColumns;
  alignas(64) float value[kSize];
  alignas(64) int32_t magnitude[kSize];
  alignas(64) int32_t exponent[kSize];
  alignas(64) int32_t negative[kSize];
  alignas(64) int8_t level[kSize];  ///< see mfma_quad.h
  int32_t top_exponent;
  bool special;  ///< an infinity or NaN is among them
};

/// What of an operand is wanted: numbers and exponents, or all of its parts.
enum class Want : uint8_t { numbers, parts };

/// Sixteen numbers of a format: value = magnitude 2^(exponent - fraction bits), and its sign as 0
/// or -1. A subnormal has the exponent of the smallest normal number, zero too. Special: infinity
/// or NaN.
struct Parts {
  V16f value;
  V16i magnitude, exponent, negative, special;
};
template <const Format& f>
BATON_INLINE Parts take_apart16(V16i x) {
  constexpr int32_t kFraction = (1 << f.fraction_bits) - 1, kTop = (1 << f.exponent_bits) - 1;
  const V16i fraction = x & kFraction;
  const V16i field = (x >> f.fraction_bits) & kTop;
  const V16i subnormal = field == 0;
  Parts p;
  p.magnitude = fraction | (~subnormal & (1 << f.fraction_bits));
  p.exponent = field - subnormal - f.bias;
  p.negative = -((x >> (f.bits - 1)) & 1);
  if constexpr (f.specials == Specials::ieee) {
    p.special = field == kTop;
  } else if constexpr (f.specials == Specials::nan_only) {
    p.special =
        (x & ((kTop << f.fraction_bits) | kFraction)) == ((kTop << f.fraction_bits) | kFraction);
  } else if constexpr (f.specials == Specials::fnuz) {
    p.special = x == (1 << (f.bits - 1));
  } else {
    p.special = V16i{};
  }
  if constexpr (f.exponent_bits == 8) {
    p.value = bits_as<V16f>(x << 16);
  } else {
    const V16f unit = bits_as<V16f>((p.exponent + (127 - f.fraction_bits)) << 23);
    const V16i number = bits_as<V16i>(__builtin_convertvector(p.magnitude, V16f) * unit);
    const V16i infinite = f.specials == Specials::ieee ? fraction == 0 : V16i{};
    const V16i above = (infinite & 0x7f800000) | (~infinite & 0x7fc00000);
    const V16i sign = p.negative & static_cast<int32_t>(0x80000000);
    p.value = bits_as<V16f>(((number & ~p.special) | (above & p.special)) ^ sign);
  }
  return p;
}

template <typename T>
BATON_INLINE void store16(T* to, const auto& from) {
  __builtin_memcpy(to, &from, sizeof(from));
}

/// Lane l holds, of row l % width, the k slice l / width, its elements one behind the other. The
/// top exponent and what is special are found along the way. `scale_bits` shifts magnitudes.
template <int k, int width, const Format& f>
BATON_INLINE void unpack(const uint32_t* const* registers, int scale_bits, Want want,
                         Matrix<k, width>& to) {
  constexpr int kSlices = kLanes / width, kPerLane = k / kSlices;
  constexpr int32_t kMask = (1 << f.bits) - 1;
  V16i special = {}, top = V16i{} - 100000;
  for (int slice = 0; slice < kSlices; ++slice) {
    for (int e = 0; e < kPerLane; ++e) {
      const int bit = e * f.bits, shift = bit % 32;
      const bool split = shift + f.bits > 32;
      for (int i = 0; i < width; i += kColumns) {
        const int lane = slice * width + i, at = (slice * kPerLane + e) * width + i;
        V16u word;
        __builtin_memcpy(&word, registers[bit / 32] + lane, sizeof(word));
        word >>= static_cast<uint32_t>(shift);
        if (split) {
          V16u next;
          __builtin_memcpy(&next, registers[bit / 32 + 1] + lane, sizeof(next));
          word |= next << static_cast<uint32_t>(32 - shift);
        }
        const Parts p = take_apart16<f>(bits_as<V16i>(word) & kMask);
        store16(to.value + at, p.value);
        store16(to.exponent + at, p.exponent);
        special |= p.special;
        top = __builtin_elementwise_max(top, p.exponent);
        if (want == Want::numbers) continue;
        store16(to.magnitude + at, p.magnitude << scale_bits);
        store16(to.negative + at, p.negative);
      }
    }
  }
  to.special = any(special);
  to.top_exponent = __builtin_reduce_max(top);
}

/// Fills in the levels. What lies behind the end is zero, and as large as anything.
template <int k, int width>
BATON_INLINE void find_levels(Matrix<k, width>& m) {
  for (int at = 0; at < k * width; at += kColumns) {
    const V16i level = load16(m.exponent + at) - m.top_exponent;
    store16(m.level + at,
            __builtin_convertvector(__builtin_elementwise_max(level, V16i{} + kLowestLevel), V16b));
  }
  store16(m.level + k * width, V16b{});
  store16(m.value + k * width, V16f{});
}

/// Where row `i` of a block lies in the accumulator: its register, and the lane of its first
/// column.
struct Place {
  int word, lane;
};
template <int m>
BATON_INLINE constexpr Place place_of(int block, int i) {
  if constexpr (m == 32) return {16 * block + 4 * (i / 8) + i % 4, 32 * ((i / 4) % 2)};
  if constexpr (m == 16) return {4 * block + i % 4, 16 * (i / 4)};
  return {i, 4 * block};
}

/// The block of A, of `blocks`, that block `b` multiplies with: cbsz and abid share one block among
/// 2^cbsz. Fields that name none are cut to size.
BATON_INLINE int broadcast_block(const Instruction& in, int b, int blocks) {
  if (in.cbsz == 0) return b;
  const int shared = 1 << in.cbsz;
  return ((b & ~(shared - 1)) + (in.abid & (shared - 1))) % blocks;
}

/// gfx90a's blgp: which lane of B a lane reads.
BATON_INLINE int permuted_lane(int blgp, int lane) {
  switch (blgp) {
    case 1:
      return lane % 32;
    case 2:
      return 32 + lane % 32;
    case 3:
      return (lane + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7:
      return 16 * (blgp - 4) + lane % 16;
    default:
      return lane;
  }
}

}  // namespace baton::emulator::BATON_ISA
