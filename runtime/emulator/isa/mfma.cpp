// Matrix instructions on bf16, fp16, fp8 and smaller: one row of the table a shape. The layout is
// that of the public matrix-instruction tables, the arithmetic as the wave's rule says. EXEC is
// ignored, as in hardware.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/half.h"
#include "runtime/emulator/isa/mfma_matrix.h"

namespace baton::emulator::BATON_ISA {
namespace {

enum class Element : uint8_t { bf16, f16, fp8, bf8, coded };

struct Shape {
  int m, n, k, blocks;
  Element a, b;
};

constexpr bool is_half(Element e) { return e == Element::bf16 || e == Element::f16; }

/// Calls `work` with the element's format as a compile-time constant.
template <Element e, typename Work>
BATON_INLINE void with_format(Generation g, uint32_t code, Work work) {
  const bool fnuz = g != Generation::cdna4;
  if constexpr (e == Element::bf16) {
    work.template operator()<kBf16>();
  } else if constexpr (e == Element::f16) {
    work.template operator()<kF16>();
  } else if constexpr (e == Element::fp8) {
    fnuz ? work.template operator()<kFp8Fnuz>() : work.template operator()<kFp8>();
  } else if constexpr (e == Element::bf8) {
    fnuz ? work.template operator()<kBf8Fnuz>() : work.template operator()<kBf8>();
  } else {
    switch (code) {
      case 1:
        return work.template operator()<kBf8>();
      case 2:
        return work.template operator()<kFp6>();
      case 3:
        return work.template operator()<kBf6>();
      case 4:
        return work.template operator()<kFp4>();
      default:
        return work.template operator()<kFp8>();
    }
  }
}

/// E8M0 scales by 32-k block, then row or column.
struct Scales {
  static constexpr int kBlocks = 4, kQuad = 32;
  alignas(64) int32_t a[kBlocks][kQuad] = {};
  alignas(64) int32_t b[kBlocks][kQuad] = {};
  bool nan_a[kBlocks][kQuad] = {}, nan_b[kBlocks][kQuad] = {};
  bool on = false;
};

/// All that a row of the result needs.
template <const Shape& s>
struct Task {
  Matrix<s.k, s.m * s.blocks> a;
  Matrix<s.k, s.n * s.blocks> b;
  Scales scales;
  MfmaRule rule;
  Generation generation;
  bool special;  ///< an infinity or NaN, or products that may be as large
};

BATON_INLINE V16f power_of_two(V16i exponent) {
  const V16i limited =
      __builtin_elementwise_max(__builtin_elementwise_min(exponent, V16i{} + 127), V16i{} - 126);
  return bits_as<V16f>((limited + 127) << 23);
}

/// CDNA2: subnormals are flushed everywhere; four products are summed pairwise, every add rounded.
BATON_INLINE V16f flush(V16f x) {
  const V16i bits = bits_as<V16i>(x);
  const V16i tiny = (bits & 0x7f800000) == 0;
  return bits_as<V16f>(bits & (~tiny | static_cast<int32_t>(0x80000000)));
}
template <const Shape& s>
BATON_INLINE V16f row_cdna2(const Task<s>& t, int a_at, int b_at, V16f c) {
  constexpr int kAw = s.m * s.blocks, kBw = s.n * s.blocks, kGroup = s.k < 4 ? s.k : 4;
  for (int k = 0; k < s.k; k += kGroup) {
    V16f p[4] = {};
    for (int i = 0; i < kGroup; ++i) {
      p[i] = flush(flush(load16(t.b.value + (k + i) * kBw + b_at)) *
                   flush(splat(t.a.value[(k + i) * kAw + a_at])));
    }
    const V16f sum =
        kGroup == 4 ? flush(flush(p[0] + p[1]) + flush(p[2] + p[3])) : flush(p[0] + p[1]);
    c = flush(flush(c) + sum);
  }
  return c;
}

template <const Shape& s>
BATON_INLINE V16f row_chain(const Task<s>& t, int a_at, int b_at, int i, int column, V16f c) {
  constexpr int kAw = s.m * s.blocks, kBw = s.n * s.blocks;
  for (int k = 0; k < s.k; ++k) {
    const V16f b = load16(t.b.value + k * kBw + b_at);
    const V16f a = splat(t.a.value[k * kAw + a_at]);
    if constexpr (s.a == Element::coded) {
      const V16f a_scale = power_of_two(V16i{} + t.scales.a[k / 32][i]);
      const V16f b_scale = power_of_two(load16(&t.scales.b[k / 32][column]));
      c = __builtin_elementwise_fma(a * b * a_scale, b_scale, c);
    } else {
      c = __builtin_elementwise_fma(a, b, c);
    }
  }
  return c;
}

/// What a group with an infinity, a NaN or a product of at least 2^128 makes of an element; `exact`
/// is what it would be without.
template <const Shape& s>
float special_element(const Task<s>& t, int a_at, int b_at, int first_k, int count, float c,
                      float exact) {
  constexpr int kAw = s.m * s.blocks, kBw = s.n * s.blocks;
  bool nan = c != c, plus = c == __builtin_inff(), minus = c == -__builtin_inff();
  const bool c_special = nan || plus || minus;
  bool found = false;
  for (int k = first_k; k < first_k + count; ++k) {
    const double p = static_cast<double>(t.a.value[k * kAw + a_at]) *
                     static_cast<double>(t.b.value[k * kBw + b_at]);
    nan |= p != p;
    plus |= p >= 0x1p128;
    minus |= p <= -0x1p128;
    found |= p != p || p >= 0x1p128 || p <= -0x1p128;
  }
  if (!found && !c_special) return exact;
  if (nan || (plus && minus)) return as_f32(kDefaultNan);
  return plus ? __builtin_inff() : -__builtin_inff();
}

template <const Shape& s>
BATON_INLINE Operands operands(const Task<s>& t, int a_at, int b_at) {
  return {t.a.value + a_at, t.a.exponent + a_at, t.a.magnitude + a_at, t.a.negative + a_at,
          t.b.value + b_at, t.b.exponent + b_at, t.b.magnitude + b_at, t.b.negative + b_at,
          s.m * s.blocks,   s.n * s.blocks};
}

/// A row by integers: operands must have their parts.
template <const Shape& s>
BATON_INLINE void row_exact(const Task<s>& t, int a_at, int b_at, int i, int column, V16f& c) {
  constexpr bool kEvenOdd = !is_half(s.a);
  constexpr int kGroup = kEvenOdd ? 16 : (s.k < 8 ? s.k : 8);
  const Operands o = operands(t, a_at, b_at);
  for (int k = 0; k < s.k; k += kGroup) {
    V16i scale = {};
    if constexpr (s.a == Element::coded) {
      scale = load16(&t.scales.b[k / 32][column]) + t.scales.a[k / 32][i];
    }
    V16f next = c;
    add_group<kGroup, kEvenOdd>(o, k, scale, true, next);
    if (t.special) [[unlikely]] {
      for (int j = 0; j < kColumns; ++j) {
        next[j] = special_element(t, a_at, b_at + j, k, kGroup, c[j], next[j]);
      }
    }
    c = next;
  }
}

/// Four rows of sixteen columns; false when a sum must be made by integers. A group that is
/// not for the fast way is made a row at a time.
template <const Shape& s>
BATON_INLINE bool quad_exact(const Task<s>& t, int a_at, int b_at, int i, int column,
                             V16f (&c)[kQuad]) {
  constexpr bool kEvenOdd = !is_half(s.a);
  constexpr int kGroup = kEvenOdd ? 16 : (s.k < 8 ? s.k : 8);
  const QuadOperands o = {t.a.value + a_at,
                          t.a.level + a_at,
                          t.b.value + b_at,
                          t.b.level + b_at,
                          s.m * s.blocks,
                          s.n * s.blocks,
                          t.a.top_exponent + t.b.top_exponent};
  for (int k = 0; k < s.k; k += kGroup) {
    V16i scale[kQuad] = {};
    if constexpr (s.a == Element::coded) {
      for (int r = 0; r < kQuad; ++r) {
        scale[r] = load16(&t.scales.b[k / 32][column]) + t.scales.a[k / 32][i + r];
      }
    }
    if (add_quad<kGroup, kEvenOdd>(o, k, scale, c)) [[likely]]
      continue;
    for (int r = 0; r < kQuad; ++r) {
      if (!add_group<kGroup, kEvenOdd>(operands(t, a_at + r, b_at), k, scale[r], false, c[r])) {
        return false;
      }
    }
  }
  return true;
}

/// A scale that is NaN makes all of its row or column NaN.
template <const Shape& s>
BATON_INLINE void spoil_by_scales(const Task<s>& t, int i, int column, V16f& c) {
  if constexpr (s.a == Element::coded) {
    if (!t.scales.on) return;
    for (int j = 0; j < kColumns && column + j < s.n; ++j) {
      for (int b = 0; b < s.k / 32; ++b) {
        if (t.scales.nan_a[b][i] || t.scales.nan_b[b][column + j]) c[j] = as_f32(kDefaultNan);
      }
    }
  }
}

/// The first row of A that a block multiplies with.
template <const Shape& s>
BATON_INLINE int a_row(const Instruction& in, int block) {
  return s.m * (s.a == Element::coded ? block : broadcast_block(in, block, s.blocks));
}

/// Sixteen columns of a row, c on entry.
template <const Shape& s>
BATON_INLINE void row(const Task<s>& t, const Instruction& in, int block, int i, int column,
                      V16f& c) {
  const int a_at = a_row<s>(in, block) + i, b_at = block * s.n + column;
  if (t.rule == MfmaRule::chain) {
    c = row_chain(t, a_at, b_at, i, column, c);
  } else if (t.generation == Generation::cdna2) {
    c = row_cdna2(t, a_at, b_at, c);
  } else {
    row_exact(t, a_at, b_at, i, column, c);
  }
  spoil_by_scales(t, i, column, c);
}

template <const Shape& s>
BATON_INLINE void read_operands(Wave& w, const Instruction& in, Want want, Task<s>& t) {
  const uint32_t* a[8] = {};
  const uint32_t* b[8] = {};
  Lanes permuted[8];
  for (int k = 0; k < in.src[0].words && k < 8; ++k) a[k] = w.row(in.src[0], k);
  for (int k = 0; k < in.src[1].words && k < 8; ++k) {
    b[k] = w.row(in.src[1], k);
    if (s.a == Element::coded || in.blgp == 0) continue;
    for (int l = 0; l < kLanes; ++l) permuted[k].v[l] = b[k][permuted_lane(in.blgp, l)];
    b[k] = permuted[k].v;
  }
  constexpr int kPerLaneA = s.k / (kLanes / (s.m * s.blocks));
  constexpr int kPerLaneB = s.k / (kLanes / (s.n * s.blocks));
  // A product's fraction bits are brought to kSumBits in two even steps.
  constexpr int kHalf = kSumBits / 2;
  with_format<s.a>(w.generation, in.cbsz, [&]<const Format & f>() {
    if (in.src[0].words * 32 < kPerLaneA * f.bits) fault_operand();
    unpack<s.k, s.m * s.blocks, f>(a, kHalf - f.fraction_bits, want, t.a);
  });
  with_format<s.b>(w.generation, in.blgp, [&]<const Format & f>() {
    if (in.src[1].words * 32 < kPerLaneB * f.bits) fault_operand();
    unpack<s.k, s.n * s.blocks, f>(b, kHalf - f.fraction_bits, want, t.b);
  });
}

template <const Shape& s>
BATON_INLINE void read_scales(Wave& w, const Instruction& in, Scales& scales) {
  if (in.src[3].kind == OperandKind::none) return;
  scales.on = true;
  const auto read = [&](int which, int rows, int32_t (&to)[4][32], bool (&nan)[4][32]) {
    const int byte = ((in.op_sel >> which) & 1) | ((in.op_sel_hi >> which) & 1) << 1;
    Lanes scratch;
    const uint32_t* from = fetch(w, in, 3 + which, scratch);
    for (int l = 0; l < kLanes; ++l) {
      const int32_t e = static_cast<int32_t>((from[l] >> (8 * byte)) & 0xff);
      to[l / rows][l % rows] = e - 127;
      nan[l / rows][l % rows] = e == 255;
    }
  };
  read(0, s.m, scales.a, scales.nan_a);
  read(1, s.n, scales.b, scales.nan_b);
}

/// The accumulator: a constant, or registers. Less than sixteen columns may be in a row.
template <const Shape& s>
BATON_INLINE V16f addend(const Wave& w, const Instruction& in, Place at, int column) {
  constexpr size_t kBytes = (s.n < kColumns ? s.n : kColumns) * sizeof(float);
  if (in.src[2].kind == OperandKind::constant) {
    return splat(as_f32(static_cast<uint32_t>(in.src[2].value)));
  }
  V16f c = {};
  __builtin_memcpy(&c, w.row(in.src[2], at.word) + at.lane + column, kBytes);
  return c;
}
template <const Shape& s, int words>
BATON_INLINE void keep(float (&result)[words][kLanes + kColumns], Place at, int column, V16f c) {
  constexpr size_t kBytes = (s.n < kColumns ? s.n : kColumns) * sizeof(float);
  __builtin_memcpy(&result[at.word][at.lane + column], &c, kBytes);
}

template <const Shape& s>
[[gnu::noinline]] void read_parts(Wave& w, const Instruction& in, Task<s>& t) {
  read_operands<s>(w, in, Want::parts, t);
}

/// All of the result into `result`, a row at a time.
template <const Shape& s, int words>
[[gnu::noinline]] void multiply(Wave& w, const Instruction& in, const Task<s>& t,
                                float (&result)[words][kLanes + kColumns]) {
  for (int block = 0; block < s.blocks; ++block) {
    for (int i = 0; i < s.m; ++i) {
      const Place at = place_of<s.m>(block, i);
      for (int column = 0; column < s.n; column += kColumns) {
        V16f c = addend<s>(w, in, at, column);
        row(t, in, block, i, column, c);
        keep<s>(result, at, column, c);
      }
    }
  }
}

/// The same, four rows at a time; false when an element must be made by integers.
template <const Shape& s, int words>
BATON_INLINE bool multiply_quads(Wave& w, const Instruction& in, const Task<s>& t,
                                 float (&result)[words][kLanes + kColumns]) {
  for (int block = 0; block < s.blocks; ++block) {
    const int a_at = a_row<s>(in, block), b_at = block * s.n;
    for (int i = 0; i < s.m; i += kQuad) {
      for (int column = 0; column < s.n; column += kColumns) {
        V16f c[kQuad];
        for (int r = 0; r < kQuad; ++r) {
          c[r] = addend<s>(w, in, place_of<s.m>(block, i + r), column);
        }
        if (!quad_exact(t, a_at + i, b_at + column, i, column, c)) return false;
        for (int r = 0; r < kQuad; ++r) {
          spoil_by_scales(t, i + r, column, c[r]);
          keep<s>(result, place_of<s.m>(block, i + r), column, c[r]);
        }
      }
    }
  }
  return true;
}

template <const Shape& s>
void mfma(Wave& w, const Instruction& in) {
  const MatrixFloatMode mode(w);
  constexpr int kWords = s.m * s.n * s.blocks / kLanes;
  Task<s> t;
  t.rule = w.mfma;
  t.generation = w.generation;
  read_operands<s>(w, in, Want::numbers, t);
  if constexpr (s.a == Element::coded) read_scales<s>(w, in, t.scales);
  t.special = t.a.special || t.b.special || t.a.top_exponent + t.b.top_exponent >= kQuadTopExponent;
  alignas(64) float result[kWords][kLanes + kColumns];
  const bool groups = t.rule == MfmaRule::exact && t.generation != Generation::cdna2;
  bool done = false;
  if (groups && !t.special) {
    find_levels(t.a);
    find_levels(t.b);
    done = multiply_quads(w, in, t, result);
  }
  if (!done) {
    if (groups) read_parts(w, in, t);
    multiply(w, in, t, result);
  }
  for (int k = 0; k < kWords; ++k) {
    __builtin_memcpy(w.row(in.dst, k), result[k], kLanes * sizeof(float));
  }
}

constexpr Element kB = Element::bf16, kH = Element::f16, k8 = Element::fp8, k8b = Element::bf8,
                  kX = Element::coded;

constexpr OpRow shape_row(const char* name, Handler h) {
  return {name, h, OpClass::mfma, 1, Type::f32, {Type::b32, Type::b32, Type::f32}};
}
constexpr OpRow scale_row(const char* name, Handler h) {
  return {name, h, OpClass::mfma, 1, Type::f32, {Type::b32, Type::b32, Type::f32}};
}

#define BATON_SHAPE(id, ...) constexpr Shape id = {__VA_ARGS__}
BATON_SHAPE(k16x16x32_bf16, 16, 16, 32, 1, kB, kB);
BATON_SHAPE(k16x16x32_f16, 16, 16, 32, 1, kH, kH);
BATON_SHAPE(k32x32x16_bf16, 32, 32, 16, 1, kB, kB);
BATON_SHAPE(k32x32x16_f16, 32, 32, 16, 1, kH, kH);
BATON_SHAPE(k16x16x16_bf16, 16, 16, 16, 1, kB, kB);
BATON_SHAPE(k16x16x16_f16, 16, 16, 16, 1, kH, kH);
BATON_SHAPE(k32x32x8_bf16, 32, 32, 8, 1, kB, kB);
BATON_SHAPE(k32x32x8_f16, 32, 32, 8, 1, kH, kH);
BATON_SHAPE(k16x16x8_bf16, 16, 16, 8, 1, kB, kB);
BATON_SHAPE(k32x32x4_bf16, 32, 32, 4, 1, kB, kB);
BATON_SHAPE(k32x32x4_2b_bf16, 32, 32, 4, 2, kB, kB);
BATON_SHAPE(k32x32x4_2b_f16, 32, 32, 4, 2, kH, kH);
BATON_SHAPE(k16x16x4_4b_bf16, 16, 16, 4, 4, kB, kB);
BATON_SHAPE(k16x16x4_4b_f16, 16, 16, 4, 4, kH, kH);
BATON_SHAPE(k4x4x4_16b_bf16, 4, 4, 4, 16, kB, kB);
BATON_SHAPE(k4x4x4_16b_f16, 4, 4, 4, 16, kH, kH);
BATON_SHAPE(k32x32x2_2b_bf16, 32, 32, 2, 2, kB, kB);
BATON_SHAPE(k16x16x2_4b_bf16, 16, 16, 2, 4, kB, kB);
BATON_SHAPE(k4x4x2_16b_bf16, 4, 4, 2, 16, kB, kB);
BATON_SHAPE(k16x16x32_88, 16, 16, 32, 1, k8, k8);
BATON_SHAPE(k16x16x32_8b, 16, 16, 32, 1, k8, k8b);
BATON_SHAPE(k16x16x32_b8, 16, 16, 32, 1, k8b, k8);
BATON_SHAPE(k16x16x32_bb, 16, 16, 32, 1, k8b, k8b);
BATON_SHAPE(k32x32x16_88, 32, 32, 16, 1, k8, k8);
BATON_SHAPE(k32x32x16_8b, 32, 32, 16, 1, k8, k8b);
BATON_SHAPE(k32x32x16_b8, 32, 32, 16, 1, k8b, k8);
BATON_SHAPE(k32x32x16_bb, 32, 32, 16, 1, k8b, k8b);
BATON_SHAPE(k16x16x128_coded, 16, 16, 128, 1, kX, kX);
BATON_SHAPE(k32x32x64_coded, 32, 32, 64, 1, kX, kX);
#undef BATON_SHAPE

constexpr OpRow kRows[] = {
    shape_row("v_mfma_f32_16x16x32_bf16", mfma<k16x16x32_bf16>),
    shape_row("v_mfma_f32_16x16x32_f16", mfma<k16x16x32_f16>),
    shape_row("v_mfma_f32_32x32x16_bf16", mfma<k32x32x16_bf16>),
    shape_row("v_mfma_f32_32x32x16_f16", mfma<k32x32x16_f16>),
    shape_row("v_mfma_f32_16x16x16_bf16", mfma<k16x16x16_bf16>),
    shape_row("v_mfma_f32_16x16x16bf16_1k", mfma<k16x16x16_bf16>),
    shape_row("v_mfma_f32_16x16x16_f16", mfma<k16x16x16_f16>),
    shape_row("v_mfma_f32_16x16x16f16", mfma<k16x16x16_f16>),
    shape_row("v_mfma_f32_32x32x8_bf16", mfma<k32x32x8_bf16>),
    shape_row("v_mfma_f32_32x32x8bf16_1k", mfma<k32x32x8_bf16>),
    shape_row("v_mfma_f32_32x32x8_f16", mfma<k32x32x8_f16>),
    shape_row("v_mfma_f32_32x32x8f16", mfma<k32x32x8_f16>),
    shape_row("v_mfma_f32_16x16x8bf16", mfma<k16x16x8_bf16>),
    shape_row("v_mfma_f32_32x32x4bf16", mfma<k32x32x4_bf16>),
    shape_row("v_mfma_f32_32x32x4_2b_bf16", mfma<k32x32x4_2b_bf16>),
    shape_row("v_mfma_f32_32x32x4bf16_1k", mfma<k32x32x4_2b_bf16>),
    shape_row("v_mfma_f32_32x32x4_2b_f16", mfma<k32x32x4_2b_f16>),
    shape_row("v_mfma_f32_32x32x4f16", mfma<k32x32x4_2b_f16>),
    shape_row("v_mfma_f32_16x16x4_4b_bf16", mfma<k16x16x4_4b_bf16>),
    shape_row("v_mfma_f32_16x16x4bf16_1k", mfma<k16x16x4_4b_bf16>),
    shape_row("v_mfma_f32_16x16x4_4b_f16", mfma<k16x16x4_4b_f16>),
    shape_row("v_mfma_f32_16x16x4f16", mfma<k16x16x4_4b_f16>),
    shape_row("v_mfma_f32_4x4x4_16b_bf16", mfma<k4x4x4_16b_bf16>),
    shape_row("v_mfma_f32_4x4x4bf16_1k", mfma<k4x4x4_16b_bf16>),
    shape_row("v_mfma_f32_4x4x4_16b_f16", mfma<k4x4x4_16b_f16>),
    shape_row("v_mfma_f32_4x4x4f16", mfma<k4x4x4_16b_f16>),
    shape_row("v_mfma_f32_32x32x2bf16", mfma<k32x32x2_2b_bf16>),
    shape_row("v_mfma_f32_16x16x2bf16", mfma<k16x16x2_4b_bf16>),
    shape_row("v_mfma_f32_4x4x2bf16", mfma<k4x4x2_16b_bf16>),
    shape_row("v_mfma_f32_16x16x32_fp8_fp8", mfma<k16x16x32_88>),
    shape_row("v_mfma_f32_16x16x32_fp8_bf8", mfma<k16x16x32_8b>),
    shape_row("v_mfma_f32_16x16x32_bf8_fp8", mfma<k16x16x32_b8>),
    shape_row("v_mfma_f32_16x16x32_bf8_bf8", mfma<k16x16x32_bb>),
    shape_row("v_mfma_f32_32x32x16_fp8_fp8", mfma<k32x32x16_88>),
    shape_row("v_mfma_f32_32x32x16_fp8_bf8", mfma<k32x32x16_8b>),
    shape_row("v_mfma_f32_32x32x16_bf8_fp8", mfma<k32x32x16_b8>),
    shape_row("v_mfma_f32_32x32x16_bf8_bf8", mfma<k32x32x16_bb>),
    scale_row("v_mfma_f32_16x16x128_f8f6f4", mfma<k16x16x128_coded>),
    scale_row("v_mfma_f32_32x32x64_f8f6f4", mfma<k32x32x64_coded>),
    scale_row("v_mfma_scale_f32_16x16x128_f8f6f4", mfma<k16x16x128_coded>),
    scale_row("v_mfma_scale_f32_32x32x64_f8f6f4", mfma<k32x32x64_coded>),
};

}  // namespace

OpTable mfma_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
