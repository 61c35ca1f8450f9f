// Matrix instructions on fp32, fp64 and int8: a chain of fused steps over ascending k, or exact
// integers.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/mfma_matrix.h"

namespace baton::emulator::BATON_ISA {
namespace {

struct Shape {
  int m, n, k, blocks;
};

/// Which lane holds (k slice, block, row) of an operand: rows first, then blocks, then slices of k.
BATON_INLINE int operand_lane(int rows, int blocks, int slice, int block, int row) {
  return slice * rows * blocks + block * rows + row;
}

// -- fp32 -----------------------------------------------------------------------------------------

/// Every lane holds one element: k is the slice.
template <const Shape& s>
void mfma_f32(Wave& w, const Instruction& in) {
  const MatrixFloatMode mode(w);
  constexpr int kWords = s.m * s.n * s.blocks / kLanes;
  const uint32_t* a = w.row(in.src[0]);
  const uint32_t* b = w.row(in.src[1]);
  const bool constant = in.src[2].kind == OperandKind::constant;
  Lanes result[kWords];
  for (int block = 0; block < s.blocks; ++block) {
    for (int i = 0; i < s.m; ++i) {
      const Place at = place_of<s.m>(block, i);
      for (int j = 0; j < s.n; ++j) {
        const int lane = at.lane + j;
        float c = as_f32(constant ? static_cast<uint32_t>(in.src[2].value)
                                  : w.row(in.src[2], at.word)[lane]);
        for (int k = 0; k < s.k; ++k) {
          const int al = operand_lane(s.m, s.blocks, k, broadcast_block(in, block, s.blocks), i);
          int bl = operand_lane(s.n, s.blocks, k, block, j);
          if (in.blgp) bl = permuted_lane(in.blgp, bl);
          c = __builtin_fmaf(as_f32(a[al]), as_f32(b[bl]), c);
        }
        result[at.word].v[lane] = as_u32(c);
      }
    }
  }
  for (int k = 0; k < kWords; ++k) {
    __builtin_memcpy(w.row(in.dst, k), result[k].v, sizeof(Lanes));
  }
}

// -- fp64 -----------------------------------------------------------------------------------------

BATON_INLINE double read_f64(Wave& w, const Operand& o, int word, int lane) {
  return as_f64(join(w.row(o, word)[lane], w.row(o, word + 1)[lane]));
}
BATON_INLINE double negated(double x, bool yes) { return yes ? -x : x; }

/// 16x16x4: row i of the result is in register pair i / 4, lane 16 (i % 4). 4x4x4, four blocks:
/// lane 16 i + 4 block + j.
template <const Shape& s>
void mfma_f64(Wave& w, const Instruction& in) {
  const MatrixFloatMode mode(w);
  constexpr int kPairs = s.m * s.n * s.blocks / kLanes;
  const bool constant = in.src[2].kind == OperandKind::constant;
  // gfx940 and later: the field is a negation of each source.
  const uint8_t negate = in.neg_lo;
  Lanes result[kPairs * 2];
  for (int block = 0; block < s.blocks; ++block) {
    for (int i = 0; i < s.m; ++i) {
      for (int j = 0; j < s.n; ++j) {
        const int pair = s.m == 16 ? i / 4 : 0;
        const int lane = s.m == 16 ? 16 * (i % 4) + j : 16 * i + 4 * block + j;
        double c = constant ? as_f64(in.src[2].value) : read_f64(w, in.src[2], 2 * pair, lane);
        c = negated(c, negate & 4);
        for (int k = 0; k < s.k; ++k) {
          const double a = read_f64(w, in.src[0], 0, operand_lane(s.m, s.blocks, k, block, i));
          const double b = read_f64(w, in.src[1], 0, operand_lane(s.n, s.blocks, k, block, j));
          c = __builtin_fma(negated(a, negate & 1), negated(b, negate & 2), c);
        }
        result[2 * pair].v[lane] = static_cast<uint32_t>(as_u64(c));
        result[2 * pair + 1].v[lane] = static_cast<uint32_t>(as_u64(c) >> 32);
      }
    }
  }
  for (int k = 0; k < 2 * kPairs; ++k) {
    __builtin_memcpy(w.row(in.dst, k), result[k].v, sizeof(Lanes));
  }
}

// -- int8 -----------------------------------------------------------------------------------------

template <const Shape& s>
void mfma_i8(Wave& w, const Instruction& in) {
  constexpr int kWords = s.m * s.n * s.blocks / kLanes;
  constexpr int kSlices = kLanes / (s.m * s.blocks), kPerLane = s.k / kSlices;
  const bool constant = in.src[2].kind == OperandKind::constant;
  Lanes result[kWords];
  const auto element = [&](const Operand& o, int lane, int e) {
    return static_cast<int32_t>(static_cast<int8_t>(w.row(o, e / 4)[lane] >> (8 * (e % 4))));
  };
  for (int block = 0; block < s.blocks; ++block) {
    for (int i = 0; i < s.m; ++i) {
      const Place at = place_of<s.m>(block, i);
      for (int j = 0; j < s.n; ++j) {
        const int lane = at.lane + j;
        uint32_t c =
            constant ? static_cast<uint32_t>(in.src[2].value) : w.row(in.src[2], at.word)[lane];
        for (int k = 0; k < s.k; ++k) {
          const int slice = k / kPerLane;
          const int al =
              operand_lane(s.m, s.blocks, slice, broadcast_block(in, block, s.blocks), i);
          int bl = operand_lane(s.n, s.blocks, slice, block, j);
          if (in.blgp) bl = permuted_lane(in.blgp, bl);
          c += static_cast<uint32_t>(element(in.src[0], al, k % kPerLane) *
                                     element(in.src[1], bl, k % kPerLane));
        }
        result[at.word].v[lane] = c;
      }
    }
  }
  for (int k = 0; k < kWords; ++k) {
    __builtin_memcpy(w.row(in.dst, k), result[k].v, sizeof(Lanes));
  }
}

constexpr Shape k32x32x1_2b = {32, 32, 1, 2}, k16x16x1_4b = {16, 16, 1, 4},
                k4x4x1_16b = {4, 4, 1, 16}, k32x32x2 = {32, 32, 2, 1}, k16x16x4 = {16, 16, 4, 1},
                k4x4x4_4b = {4, 4, 4, 4};
constexpr Shape k32x32x4_2b = {32, 32, 4, 2}, k16x16x4_4b = {16, 16, 4, 4},
                k4x4x4_16b = {4, 4, 4, 16}, k32x32x8 = {32, 32, 8, 1}, k16x16x16 = {16, 16, 16, 1},
                k32x32x16 = {32, 32, 16, 1}, k16x16x32 = {16, 16, 32, 1},
                k32x32x32 = {32, 32, 32, 1}, k16x16x64 = {16, 16, 64, 1};

constexpr OpRow row(const char* name, Handler h, Type type) {
  return {name, h, OpClass::mfma, 1, type, {type, type, type}};
}
constexpr Type kF = Type::f32, kD = Type::f64, kI = Type::b32;

constexpr OpRow kRows[] = {
    row("v_mfma_f32_32x32x1_2b_f32", mfma_f32<k32x32x1_2b>, kF),
    row("v_mfma_f32_32x32x1f32", mfma_f32<k32x32x1_2b>, kF),
    row("v_mfma_f32_16x16x1_4b_f32", mfma_f32<k16x16x1_4b>, kF),
    row("v_mfma_f32_16x16x1f32", mfma_f32<k16x16x1_4b>, kF),
    row("v_mfma_f32_4x4x1_16b_f32", mfma_f32<k4x4x1_16b>, kF),
    row("v_mfma_f32_4x4x1f32", mfma_f32<k4x4x1_16b>, kF),
    row("v_mfma_f32_32x32x2_f32", mfma_f32<k32x32x2>, kF),
    row("v_mfma_f32_32x32x2f32", mfma_f32<k32x32x2>, kF),
    row("v_mfma_f32_16x16x4_f32", mfma_f32<k16x16x4>, kF),
    row("v_mfma_f32_16x16x4f32", mfma_f32<k16x16x4>, kF),
    row("v_mfma_f64_16x16x4_f64", mfma_f64<k16x16x4>, kD),
    row("v_mfma_f64_16x16x4f64", mfma_f64<k16x16x4>, kD),
    row("v_mfma_f64_4x4x4_4b_f64", mfma_f64<k4x4x4_4b>, kD),
    row("v_mfma_f64_4x4x4f64", mfma_f64<k4x4x4_4b>, kD),
    row("v_mfma_i32_32x32x4_2b_i8", mfma_i8<k32x32x4_2b>, kI),
    row("v_mfma_i32_32x32x4i8", mfma_i8<k32x32x4_2b>, kI),
    row("v_mfma_i32_16x16x4_4b_i8", mfma_i8<k16x16x4_4b>, kI),
    row("v_mfma_i32_16x16x4i8", mfma_i8<k16x16x4_4b>, kI),
    row("v_mfma_i32_4x4x4_16b_i8", mfma_i8<k4x4x4_16b>, kI),
    row("v_mfma_i32_4x4x4i8", mfma_i8<k4x4x4_16b>, kI),
    row("v_mfma_i32_32x32x8i8", mfma_i8<k32x32x8>, kI),
    row("v_mfma_i32_16x16x16i8", mfma_i8<k16x16x16>, kI),
    row("v_mfma_i32_32x32x16_i8", mfma_i8<k32x32x16>, kI),
    row("v_mfma_i32_16x16x32_i8", mfma_i8<k16x16x32>, kI),
    row("v_mfma_i32_32x32x32_i8", mfma_i8<k32x32x32>, kI),
    row("v_mfma_i32_16x16x64_i8", mfma_i8<k16x16x64>, kI),
};

}  // namespace

OpTable mfma_other_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
