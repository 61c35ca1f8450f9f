// Conversions from and to fp8, bf8, fp6, bf6 and fp4, with and without a scale, rounded to nearest
// or stochastically.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/small_float.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

enum class N : uint8_t { f32, f16, bf16, fp8, bf8, fp6, bf6, fp4 };

constexpr int width_of(N n) {
  switch (n) {
    case N::f32:
      return 32;
    case N::f16:
    case N::bf16:
      return 16;
    case N::fp8:
    case N::bf8:
      return 8;
    case N::fp6:
    case N::bf6:
      return 6;
    case N::fp4:
      return 4;
  }
}

BATON_INLINE SmallFloat small_of(N n, Generation g) {
  const bool fnuz = g != Generation::cdna4;
  switch (n) {
    case N::f16:
      return SmallFloat::f16;
    case N::bf16:
      return SmallFloat::bf16;
    case N::fp8:
      return fnuz ? SmallFloat::fp8_fnuz : SmallFloat::fp8;
    case N::bf8:
      return fnuz ? SmallFloat::bf8_fnuz : SmallFloat::bf8;
    case N::fp6:
      return SmallFloat::fp6;
    case N::bf6:
      return SmallFloat::bf6;
    default:
      return SmallFloat::fp4;
  }
}

struct Rule {
  N from, to;
  int count;  ///< elements
  bool scaled;
  bool stochastic;
};

constexpr u32 kModeFp16Overflow = 1u << 23;  ///< results saturate

/// `count` elements of `bits` each, from bit 0 of consecutive words on.
template <int bits>
BATON_INLINE u32 get_bits(const u32* words, int element) {
  const int at = element * bits, word = at / 32, shift = at % 32;
  uint64_t pair = words[word];
  if (shift + bits > 32) pair |= uint64_t{words[word + 1]} << 32;
  return static_cast<u32>((pair >> shift) & ((uint64_t{1} << bits) - 1));
}
template <int bits>
BATON_INLINE void put_bits(u32* words, int element, u32 value) {
  const int at = element * bits, word = at / 32, shift = at % 32;
  words[word] |= value << shift;
  if (shift + bits > 32) words[word + 1] |= value >> (32 - shift);
}

/// Narrow sources that are less than a word, and where op_sel says they lie.
template <const Rule& r>
BATON_INLINE u32 source_shift(const Instruction& in) {
  constexpr int kBits = width_of(r.from) * r.count;
  if (!r.scaled || kBits >= 32 || r.from == N::f16 || r.from == N::bf16) return 0;
  return kBits == 16 ? 16u * (in.op_sel & 1) : 8u * (in.op_sel & 3);
}

/// All words of the value operands of one lane, one behind the other.
template <const Rule& r>
BATON_INLINE void read_sources(Wave& w, const Instruction& in, const Lanes (&single)[2],
                               int value_operands, int lane, u32* words) {
  constexpr int kWords = (width_of(r.from) * r.count + 31) / 32;
  int next = 0;
  for (int o = 0; o < value_operands; ++o) {
    const Operand& operand = in.src[o];
    const int each = kWords / value_operands;
    if (each <= 1) {
      words[next++] = single[o].v[lane];
      continue;
    }
    for (int k = 0; k < each; ++k) words[next++] = w.row(operand, k)[lane];
  }
  if (kWords == 1) words[0] >>= source_shift<r>(in);
}

template <const Rule& r>
BATON_INLINE double element_value(const u32* words, int e, SmallFloat from) {
  const u32 bits = get_bits<width_of(r.from)>(words, e);
  if (r.from == N::f32) return static_cast<double>(as_f32(bits));
  return small_to_double(from, bits);
}

template <const Rule& r>
BATON_INLINE u32 element_result(double x, SmallFloat to, u32 random, bool saturate) {
  if (r.to == N::f32) return as_u32(static_cast<float>(x));
  return r.stochastic ? double_to_small_stochastic(to, x, random, saturate)
                      : double_to_small(to, x, saturate);
}

/// Results of less than a word go where op_sel says; the rest of the register stays.
template <const Rule& r>
BATON_INLINE u32 placed(const Instruction& in, u32 value, u32 old) {
  constexpr int kBits = width_of(r.to) * r.count;
  if (kBits >= 32) return value;
  const u32 shift = kBits == 16 ? 16u * ((in.op_sel >> 3) & 1) : 8u * ((in.op_sel >> 2) & 3);
  const u32 mask = ((1u << (kBits % 32)) - 1) << shift;
  return (old & ~mask) | ((value << shift) & mask);
}

/// How many operands hold values: fp32 sources of a pair come in two registers of their own, and
/// 2xpk16 in two groups of 16.
template <const Rule& r>
BATON_INLINE int value_operands(const Instruction& in) {
  if (r.from != N::f32 || r.count == 1) return 1;
  return in.src[0].words * 32 >= width_of(r.from) * r.count ? 1 : 2;
}

template <const Rule& r>
void convert(Wave& w, const Instruction& in) {
  constexpr int kOut = (width_of(r.to) * r.count + 31) / 32;
  const SmallFloat from = small_of(r.from, w.generation), to = small_of(r.to, w.generation);
  const int values = value_operands<r>(in);
  Lanes scratch, single[2], scale, random;
  for (int o = 0; o < values; ++o) {
    const u32* x = fetch(w, in, o, scratch);
    for (int i = 0; i < kLanes; ++i) single[o].v[i] = x[i];
  }
  int next = values;
  if (r.stochastic) {
    const u32* x = fetch(w, in, next++, scratch);
    for (int i = 0; i < kLanes; ++i) random.v[i] = x[i];
  }
  if (r.scaled) {
    const u32* x = fetch(w, in, next, scratch);
    for (int i = 0; i < kLanes; ++i) scale.v[i] = x[i];
  }
  const bool saturate = w.mode & kModeFp16Overflow;
  constexpr bool kNarrows = width_of(r.to) < width_of(r.from);
  Lanes result[kOut];
  for (int i = 0; i < kLanes; ++i) {
    u32 words[33] = {}, out[kOut + 1] = {};
    read_sources<r>(w, in, single, values, i, words);
    const int exponent = static_cast<int>((scale.v[i] >> 23) & 0xff) - 127;
    for (int e = 0; e < r.count; ++e) {
      double x = element_value<r>(words, e, from);
      if (r.scaled) {
        x = exponent == 128 ? __builtin_nan("")
                            : __builtin_ldexp(x, kNarrows ? -exponent : exponent);
      }
      // Published nowhere: the word turns by one place from element to element of a group.
      const u32 turn = static_cast<u32>(e) & 31;
      const u32 bits =
          r.stochastic ? (random.v[i] << turn | (turn ? random.v[i] >> (32 - turn) : 0)) : 0;
      put_bits<width_of(r.to)>(out, e, element_result<r>(x, to, bits, saturate));
    }
    for (int k = 0; k < kOut; ++k) result[k].v[i] = out[k];
  }
  if (kOut == 1) {
    const u32* old = w.row(in.dst);
    for (int i = 0; i < kLanes; ++i) result[0].v[i] = placed<r>(in, result[0].v[i], old[i]);
  }
  if (kOut == 1) {
    write(w, in, result[0].v);
  } else {
    for (int k = 0; k < kOut; ++k) write_word(w, in.dst, k, result[k].v);
  }
}

constexpr OpRow row(const char* name, Handler h) {
  constexpr Type kB = Type::b32;
  return {name, h, OpClass::valu, 1, kB, {kB, kB, kB}};
}

#define BATON_RULE(id, ...) constexpr Rule id = {__VA_ARGS__}
BATON_RULE(f32_fp8, N::fp8, N::f32, 1, false, false);
BATON_RULE(f32_bf8, N::bf8, N::f32, 1, false, false);
BATON_RULE(pk_f32_fp8, N::fp8, N::f32, 2, false, false);
BATON_RULE(pk_f32_bf8, N::bf8, N::f32, 2, false, false);
BATON_RULE(pk_fp8_f32, N::f32, N::fp8, 2, false, false);
BATON_RULE(pk_bf8_f32, N::f32, N::bf8, 2, false, false);
BATON_RULE(sr_fp8_f32, N::f32, N::fp8, 1, false, true);
BATON_RULE(sr_bf8_f32, N::f32, N::bf8, 1, false, true);
BATON_RULE(sr_f16_f32, N::f32, N::f16, 1, false, true);
BATON_RULE(sr_bf16_f32, N::f32, N::bf16, 1, false, true);
#define BATON_FROM8(kind)                                           \
  BATON_RULE(s_f32_##kind, N::kind, N::f32, 1, true, false);        \
  BATON_RULE(s_f16_##kind, N::kind, N::f16, 1, true, false);        \
  BATON_RULE(s_pk_f32_##kind, N::kind, N::f32, 2, true, false);     \
  BATON_RULE(s_pk_f16_##kind, N::kind, N::f16, 2, true, false);     \
  BATON_RULE(s_pk_bf16_##kind, N::kind, N::bf16, 2, true, false);   \
  BATON_RULE(s_pk_##kind##_f32, N::f32, N::kind, 2, true, false);   \
  BATON_RULE(s_pk_##kind##_f16, N::f16, N::kind, 2, true, false);   \
  BATON_RULE(s_pk_##kind##_bf16, N::bf16, N::kind, 2, true, false); \
  BATON_RULE(s_sr_##kind##_f32, N::f32, N::kind, 1, true, true);    \
  BATON_RULE(s_sr_##kind##_f16, N::f16, N::kind, 1, true, true);    \
  BATON_RULE(s_sr_##kind##_bf16, N::bf16, N::kind, 1, true, true)
BATON_FROM8(fp8);
BATON_FROM8(bf8);
BATON_RULE(s_pk_f32_fp4, N::fp4, N::f32, 2, true, false);
BATON_RULE(s_pk_f16_fp4, N::fp4, N::f16, 2, true, false);
BATON_RULE(s_pk_bf16_fp4, N::fp4, N::bf16, 2, true, false);
BATON_RULE(s_pk_fp4_f32, N::f32, N::fp4, 2, true, false);
BATON_RULE(s_pk_fp4_f16, N::f16, N::fp4, 2, true, false);
BATON_RULE(s_pk_fp4_bf16, N::bf16, N::fp4, 2, true, false);
BATON_RULE(s_sr_pk_fp4_f32, N::f32, N::fp4, 2, true, true);
BATON_RULE(s_sr_pk_fp4_f16, N::f16, N::fp4, 2, true, true);
BATON_RULE(s_sr_pk_fp4_bf16, N::bf16, N::fp4, 2, true, true);
#define BATON_FROM6(kind)                                         \
  BATON_RULE(s_f32_##kind, N::kind, N::f32, 32, true, false);     \
  BATON_RULE(s_f16_##kind, N::kind, N::f16, 32, true, false);     \
  BATON_RULE(s_bf16_##kind, N::kind, N::bf16, 32, true, false);   \
  BATON_RULE(s_##kind##_f32, N::f32, N::kind, 32, true, false);   \
  BATON_RULE(s_##kind##_f16, N::f16, N::kind, 32, true, false);   \
  BATON_RULE(s_##kind##_bf16, N::bf16, N::kind, 32, true, false); \
  BATON_RULE(s_sr_##kind##_f32, N::f32, N::kind, 32, true, true); \
  BATON_RULE(s_sr_##kind##_f16, N::f16, N::kind, 32, true, true); \
  BATON_RULE(s_sr_##kind##_bf16, N::bf16, N::kind, 32, true, true)
BATON_FROM6(fp6);
BATON_FROM6(bf6);
#undef BATON_RULE

#define BATON_ROWS8(kind)                                                   \
  row("v_cvt_scalef32_f32_" #kind, convert<s_f32_##kind>),                  \
      row("v_cvt_scalef32_f16_" #kind, convert<s_f16_##kind>),              \
      row("v_cvt_scalef32_pk_f32_" #kind, convert<s_pk_f32_##kind>),        \
      row("v_cvt_scalef32_pk_f16_" #kind, convert<s_pk_f16_##kind>),        \
      row("v_cvt_scalef32_pk_bf16_" #kind, convert<s_pk_bf16_##kind>),      \
      row("v_cvt_scalef32_pk_" #kind "_f32", convert<s_pk_##kind##_f32>),   \
      row("v_cvt_scalef32_pk_" #kind "_f16", convert<s_pk_##kind##_f16>),   \
      row("v_cvt_scalef32_pk_" #kind "_bf16", convert<s_pk_##kind##_bf16>), \
      row("v_cvt_scalef32_sr_" #kind "_f32", convert<s_sr_##kind##_f32>),   \
      row("v_cvt_scalef32_sr_" #kind "_f16", convert<s_sr_##kind##_f16>),   \
      row("v_cvt_scalef32_sr_" #kind "_bf16", convert<s_sr_##kind##_bf16>)
#define BATON_ROWS6(kind)                                                      \
  row("v_cvt_scalef32_pk32_f32_" #kind, convert<s_f32_##kind>),                \
      row("v_cvt_scalef32_pk32_f16_" #kind, convert<s_f16_##kind>),            \
      row("v_cvt_scalef32_pk32_bf16_" #kind, convert<s_bf16_##kind>),          \
      row("v_cvt_scalef32_2xpk16_" #kind "_f32", convert<s_##kind##_f32>),     \
      row("v_cvt_scalef32_pk32_" #kind "_f16", convert<s_##kind##_f16>),       \
      row("v_cvt_scalef32_pk32_" #kind "_bf16", convert<s_##kind##_bf16>),     \
      row("v_cvt_scalef32_sr_pk32_" #kind "_f32", convert<s_sr_##kind##_f32>), \
      row("v_cvt_scalef32_sr_pk32_" #kind "_f16", convert<s_sr_##kind##_f16>), \
      row("v_cvt_scalef32_sr_pk32_" #kind "_bf16", convert<s_sr_##kind##_bf16>)

constexpr OpRow kRows[] = {
    row("v_cvt_f32_fp8", convert<f32_fp8>),
    row("v_cvt_f32_bf8", convert<f32_bf8>),
    row("v_cvt_pk_f32_fp8", convert<pk_f32_fp8>),
    row("v_cvt_pk_f32_bf8", convert<pk_f32_bf8>),
    row("v_cvt_pk_fp8_f32", convert<pk_fp8_f32>),
    row("v_cvt_pk_bf8_f32", convert<pk_bf8_f32>),
    row("v_cvt_sr_fp8_f32", convert<sr_fp8_f32>),
    row("v_cvt_sr_bf8_f32", convert<sr_bf8_f32>),
    row("v_cvt_sr_f16_f32", convert<sr_f16_f32>),
    row("v_cvt_sr_bf16_f32", convert<sr_bf16_f32>),
    BATON_ROWS8(fp8),
    BATON_ROWS8(bf8),
    BATON_ROWS6(fp6),
    BATON_ROWS6(bf6),
    row("v_cvt_scalef32_pk_f32_fp4", convert<s_pk_f32_fp4>),
    row("v_cvt_scalef32_pk_f16_fp4", convert<s_pk_f16_fp4>),
    row("v_cvt_scalef32_pk_bf16_fp4", convert<s_pk_bf16_fp4>),
    row("v_cvt_scalef32_pk_fp4_f32", convert<s_pk_fp4_f32>),
    row("v_cvt_scalef32_pk_fp4_f16", convert<s_pk_fp4_f16>),
    row("v_cvt_scalef32_pk_fp4_bf16", convert<s_pk_fp4_bf16>),
    row("v_cvt_scalef32_sr_pk_fp4_f32", convert<s_sr_pk_fp4_f32>),
    row("v_cvt_scalef32_sr_pk_fp4_f16", convert<s_sr_pk_fp4_f16>),
    row("v_cvt_scalef32_sr_pk_fp4_bf16", convert<s_sr_pk_fp4_bf16>),
};

}  // namespace

OpTable vop_convert_small_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
