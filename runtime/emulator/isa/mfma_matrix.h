// Operands of matrix instructions, out of their lanes.
#pragma once

#include "runtime/emulator/isa/half.h"
#include "runtime/emulator/isa/mfma_exact.h"

namespace baton::emulator::BATON_ISA {

/// An operand, k-major: element (k, r) at [k * width + r], where r counts the rows (columns of B)
/// of all blocks. As numbers, or taken apart. Sixteen more elements may be read behind the end.
template <int k, int width>
struct Matrix {
  static constexpr int kSize = k * width + kColumns;
  alignas(64) float value[kSize];
  alignas(64) int32_t magnitude[kSize];
  alignas(64) int32_t exponent[kSize];
  alignas(64) int32_t negative[kSize];
  int32_t top_exponent;
  bool special;  ///< an infinity or NaN is among them
};

/// Element `e` of a lane's registers.
BATON_INLINE uint32_t packed_element(const uint32_t* const* registers, int lane, int e, int bits) {
  const int at = e * bits, word = at / 32, shift = at % 32;
  uint64_t pair = registers[word][lane];
  if (shift + bits > 32) pair |= uint64_t{registers[word + 1][lane]} << 32;
  return static_cast<uint32_t>(pair >> shift) & static_cast<uint32_t>((uint64_t{1} << bits) - 1);
}

/// Lane l holds, of row l % width, the k slice l / width. `scale_bits` shifts magnitudes.
template <int k, int width>
BATON_INLINE void unpack(const uint32_t* const* registers, const Format& f, int scale_bits,
                         bool values, bool parts, Matrix<k, width>& to) {
  constexpr int kSlices = kLanes / width, kPerLane = k / kSlices;
  int32_t special = 0, top = -100000;
  for (int slice = 0; slice < kSlices; ++slice) {
    for (int e = 0; e < kPerLane; ++e) {
      const int at = (slice * kPerLane + e) * width;
      for (int i = 0; i < width; ++i) {
        const uint32_t x = packed_element(registers, slice * width + i, e, f.bits);
        if (values) to.value[at + i] = value_of(x, f);
        if (!parts) continue;
        const Part p = take_apart(x, f);
        to.magnitude[at + i] = p.magnitude << scale_bits;
        to.exponent[at + i] = p.exponent;
        to.negative[at + i] = p.negative;
        special |= p.special;
        top = p.exponent > top ? p.exponent : top;
      }
    }
  }
  to.special = special;
  to.top_exponent = top;
}

/// The same for bf16 and fp16, two to a register: what most kernels use.
template <int k, int width, bool is_bf16>
BATON_INLINE void unpack_pairs(const uint32_t* const* registers, int scale_bits, bool values,
                               bool parts, Matrix<k, width>& to) {
  constexpr Format f = is_bf16 ? kBf16 : kF16;
  constexpr int kSlices = kLanes / width, kPerLane = k / kSlices;
  int32_t special = 0, top = -100000;
  for (int slice = 0; slice < kSlices; ++slice) {
    for (int e = 0; e < kPerLane; ++e) {
      const int at = (slice * kPerLane + e) * width;
      const uint32_t* lane = registers[e / 2] + slice * width;
      const uint32_t shift = e % 2 ? 16 : 0;
      if (values) {
        for (int i = 0; i < width; ++i) {
          const uint32_t x = (lane[i] >> shift) & 0xffff;
          to.value[at + i] = is_bf16 ? as_f32(x << 16) : f16_to_f32(static_cast<uint16_t>(x));
        }
      }
      if (!parts) continue;
      for (int i = 0; i < width; ++i) {
        const Part p = take_apart((lane[i] >> shift) & 0xffff, f);
        to.magnitude[at + i] = p.magnitude << scale_bits;
        to.exponent[at + i] = p.exponent;
        to.negative[at + i] = p.negative;
        special |= p.special;
        top = p.exponent > top ? p.exponent : top;
      }
    }
  }
  to.special = special;
  to.top_exponent = top;
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

/// The block of A that block `b` multiplies with: cbsz and abid share one block among 2^cbsz.
BATON_INLINE int broadcast_block(const Instruction& in, int b) {
  return in.cbsz == 0 ? b : (b >> in.cbsz << in.cbsz) + in.abid;
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
