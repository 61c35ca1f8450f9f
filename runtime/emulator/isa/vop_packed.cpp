// VOP3P: two 16-bit or two 32-bit operations an instruction, with operand halves chosen freely.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/float32.h"
#include "runtime/emulator/isa/half.h"
#include "runtime/emulator/isa/half_math.h"
#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

// -- pairs of fp32 --------------------------------------------------------------------------------

/// The word that half `half` (0: low, 1: high result) reads of source `which`, negated if asked.
BATON_INLINE const u32* packed_word(Wave& w, const Instruction& in, int which, int half,
                                    Lanes& scratch) {
  const Operand& o = in.src[which];
  const bool high = ((half ? in.op_sel_hi : in.op_sel) >> which) & 1;
  const bool negate = ((half ? in.neg_hi : in.neg_lo) >> which) & 1;
  const bool vector = o.kind == OperandKind::vgpr || o.kind == OperandKind::agpr;
  if (vector && !negate) return w.row(o, high);
  const u32 flip = negate ? 0x80000000 : 0;
  if (vector) {
    const u32* from = w.row(o, high);
    for (int i = 0; i < kLanes; ++i) scratch.v[i] = from[i] ^ flip;
    return scratch.v;
  }
  // A constant is one word for both halves.
  const u32 value = o.kind == OperandKind::constant ? static_cast<u32>(o.value)
                                                    : w.sgpr[o.index + (high ? 1 : 0)];
  for (int i = 0; i < kLanes; ++i) scratch.v[i] = value ^ flip;
  return scratch.v;
}

enum class Pk { add, mul, fma };

template <Pk kind>
void pk_f32(Wave& w, const Instruction& in) {
  Lanes result[2];
  for (int half = 0; half < 2; ++half) {
    Lanes s0, s1, s2;
    u32* r = result[half].v;
    const u32* a = packed_word(w, in, 0, half, s0);
    const u32* b = packed_word(w, in, 1, half, s1);
    const u32* c = kind == Pk::fma ? packed_word(w, in, 2, half, s2) : a;
    BATON_LANE_LOOP
    for (int i = 0; i < kLanes; ++i) {
      const float x = as_f32(a[i]), y = as_f32(b[i]);
      const float value = kind == Pk::add   ? x + y
                          : kind == Pk::mul ? x * y
                                            : __builtin_fmaf(x, y, as_f32(c[i]));
      r[i] = as_u32(value);
    }
    if (any_nan(r)) [[unlikely]] {
      for (int i = 0; i < kLanes; ++i) {
        if (is_nan(r[i])) r[i] = nan_of(a[i], b[i], c[i]);
      }
    }
    if (in.flags & kClamp) {
      for (int i = 0; i < kLanes; ++i) {
        const float x = as_f32(r[i]);
        r[i] = as_u32(x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f);
      }
    }
  }
  write_word(w, in.dst, 0, result[0].v);
  write_word(w, in.dst, 1, result[1].v);
}

void pk_mov(Wave& w, const Instruction& in) {
  Lanes r[2];
  for (int half = 0; half < 2; ++half) {
    const Operand& o = in.src[half];
    const bool high = (in.op_sel >> half) & 1;
    const bool vector = o.kind == OperandKind::vgpr || o.kind == OperandKind::agpr;
    for (int i = 0; i < kLanes; ++i) {
      r[half].v[i] = vector                            ? w.row(o, high)[i]
                     : o.kind == OperandKind::constant ? static_cast<u32>(o.value)
                                                       : w.sgpr[o.index + (high ? 1 : 0)];
    }
  }
  write_word(w, in.dst, 0, r[0].v);
  write_word(w, in.dst, 1, r[1].v);
}

// -- pairs of 16 bits -----------------------------------------------------------------------------

/// Both halves' operands of source `which`, each in the low 16 bits of its array.
struct Halves {
  Lanes lo, hi;
};
BATON_INLINE void fetch_halves(Wave& w, const Instruction& in, int which, bool is_float,
                               Halves& to) {
  Lanes scratch;
  const Operand& o = in.src[which];
  const u32* from = nullptr;
  if (o.kind == OperandKind::vgpr || o.kind == OperandKind::agpr) {
    from = w.row(o);
  } else {
    const u32 value = scalar32(w, o);
    for (int i = 0; i < kLanes; ++i) scratch.v[i] = value;
    from = scratch.v;
  }
  const u32 shift_lo = (in.op_sel >> which) & 1 ? 16 : 0;
  const u32 shift_hi = (in.op_sel_hi >> which) & 1 ? 16 : 0;
  const u32 flip_lo = is_float && ((in.neg_lo >> which) & 1) ? 0x8000 : 0;
  const u32 flip_hi = is_float && ((in.neg_hi >> which) & 1) ? 0x8000 : 0;
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = from[i];
    to.lo.v[i] = ((x >> shift_lo) & 0xffff) ^ flip_lo;
    to.hi.v[i] = ((x >> shift_hi) & 0xffff) ^ flip_hi;
  }
}

template <u32 (*Op)(u32, u32), bool is_float>
void pk2(Wave& w, const Instruction& in) {
  Halves a, b;
  fetch_halves(w, in, 0, is_float, a);
  fetch_halves(w, in, 1, is_float, b);
  Lanes r;
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    r.v[i] = (Op(a.lo.v[i], b.lo.v[i]) & 0xffff) | Op(a.hi.v[i], b.hi.v[i]) << 16;
  }
  write(w, in, r.v);
}
template <u32 (*Op)(u32, u32, u32), bool is_float>
void pk3(Wave& w, const Instruction& in) {
  Halves a, b, c;
  fetch_halves(w, in, 0, is_float, a);
  fetch_halves(w, in, 1, is_float, b);
  fetch_halves(w, in, 2, is_float, c);
  Lanes r;
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    r.v[i] = (Op(a.lo.v[i], b.lo.v[i], c.lo.v[i]) & 0xffff) | Op(a.hi.v[i], b.hi.v[i], c.hi.v[i])
                                                                  << 16;
  }
  write(w, in, r.v);
}

BATON_INLINE int32_t s16(u32 x) { return static_cast<int16_t>(x); }
BATON_INLINE u32 sat_i(int32_t x) {
  return static_cast<u32>(x > 32767 ? 32767 : x < -32768 ? -32768 : x) & 0xffff;
}
BATON_INLINE u32 sat_u(int32_t x) { return static_cast<u32>(x > 65535 ? 65535 : x < 0 ? 0 : x); }
BATON_INLINE int32_t i(u32 x) { return static_cast<int32_t>(x); }
u32 add(u32 a, u32 b) { return a + b; }
u32 sub(u32 a, u32 b) { return a - b; }
u32 add_sat_i(u32 a, u32 b) { return sat_i(s16(a) + s16(b)); }
u32 sub_sat_i(u32 a, u32 b) { return sat_i(s16(a) - s16(b)); }
u32 add_sat_u(u32 a, u32 b) { return sat_u(i(a) + i(b)); }
u32 sub_sat_u(u32 a, u32 b) { return sat_u(i(a) - i(b)); }
u32 mul_lo(u32 a, u32 b) { return a * b; }
u32 mad(u32 a, u32 b, u32 c) { return a * b + c; }
u32 mad_sat_i(u32 a, u32 b, u32 c) { return sat_i(s16(a) * s16(b) + s16(c)); }
u32 mad_sat_u(u32 a, u32 b, u32 c) {
  const uint64_t r = uint64_t{a} * b + c;
  return r > 65535 ? 65535 : static_cast<u32>(r);
}
u32 lshlrev(u32 a, u32 b) { return b << (a & 15); }
u32 lshrrev(u32 a, u32 b) { return b >> (a & 15); }
u32 ashrrev(u32 a, u32 b) { return static_cast<u32>(s16(b) >> (a & 15)); }
u32 min_i(u32 a, u32 b) { return s16(a) < s16(b) ? a : b; }
u32 max_i(u32 a, u32 b) { return s16(a) > s16(b) ? a : b; }
u32 min_u(u32 a, u32 b) { return a < b ? a : b; }
u32 max_u(u32 a, u32 b) { return a > b ? a : b; }

void pk_fmac_f16(Wave& w, const Instruction& in) {
  Lanes s0, s1, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch_dst(w, in);
  for (int k = 0; k < kLanes; ++k) {
    r.v[k] = half_fma(a[k] & 0xffff, b[k] & 0xffff, c[k] & 0xffff) |
             half_fma(a[k] >> 16, b[k] >> 16, c[k] >> 16) << 16;
  }
  write(w, in, r.v);
}

// -- mixed fp16 and fp32 --------------------------------------------------------------------------

/// op_sel_hi: the source is an fp16, and op_sel says which half; else an fp32. neg_hi means abs
/// here.
BATON_INLINE void mix_source(Wave& w, const Instruction& in, int which, Lanes& to) {
  const Operand& o = in.src[which];
  const bool vector = o.kind == OperandKind::vgpr || o.kind == OperandKind::agpr;
  const bool is_half = (in.op_sel_hi >> which) & 1, high = (in.op_sel >> which) & 1;
  for (int k = 0; k < kLanes; ++k) {
    u32 x = vector ? w.row(o)[k] : scalar32(w, o);
    if (is_half) x = as_u32(f16_to_f32(static_cast<uint16_t>(high ? x >> 16 : x)));
    if ((in.neg_hi >> which) & 1) x &= 0x7fffffff;
    if ((in.neg_lo >> which) & 1) x ^= 0x80000000;
    to.v[k] = x;
  }
}
enum class Mix { f32, low, high };
template <Mix kind>
void fma_mix(Wave& w, const Instruction& in) {
  Lanes a, b, c, r;
  mix_source(w, in, 0, a);
  mix_source(w, in, 1, b);
  mix_source(w, in, 2, c);
  for (int k = 0; k < kLanes; ++k) {
    r.v[k] = as_u32(__builtin_fmaf(as_f32(a.v[k]), as_f32(b.v[k]), as_f32(c.v[k])));
    if (is_nan(r.v[k])) r.v[k] = nan_of(a.v[k], b.v[k], c.v[k]);
    if (in.flags & kClamp) {
      const float x = as_f32(r.v[k]);
      r.v[k] = as_u32(x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f);
    }
  }
  if (kind != Mix::f32) {
    const u32* d = w.row(in.dst);
    for (int k = 0; k < kLanes; ++k) {
      const u32 h = f32_to_f16(as_f32(r.v[k]));
      r.v[k] = kind == Mix::low ? (d[k] & 0xffff0000) | h : (d[k] & 0xffff) | h << 16;
    }
  }
  write_word(w, in.dst, 0, r.v);
}

constexpr OpRow row(const char* name, Handler h, Type type, Handler clamped = nullptr) {
  return {name, h, OpClass::valu, 1, type, {type, type, type}, false, false, clamped};
}
constexpr Type kI = Type::pk16, kH = Type::pkf16, kF = Type::pkf32;
constexpr OpRow mix_row(const char* name, Handler h) {
  return {name, h, OpClass::valu, 1, Type::f32, {Type::f32, Type::f32, Type::f32}};
}

constexpr OpRow kRows[] = {
    row("v_pk_add_f32", pk_f32<Pk::add>, kF),
    row("v_pk_mul_f32", pk_f32<Pk::mul>, kF),
    row("v_pk_fma_f32", pk_f32<Pk::fma>, kF),
    row("v_pk_mov_b32", pk_mov, kF),
    row("v_pk_add_u16", pk2<add, false>, kI, pk2<add_sat_u, false>),
    row("v_pk_add_i16", pk2<add, false>, kI, pk2<add_sat_i, false>),
    row("v_pk_sub_u16", pk2<sub, false>, kI, pk2<sub_sat_u, false>),
    row("v_pk_sub_i16", pk2<sub, false>, kI, pk2<sub_sat_i, false>),
    row("v_pk_mul_lo_u16", pk2<mul_lo, false>, kI),
    row("v_pk_mad_u16", pk3<mad, false>, kI, pk3<mad_sat_u, false>),
    row("v_pk_mad_i16", pk3<mad, false>, kI, pk3<mad_sat_i, false>),
    row("v_pk_lshlrev_b16", pk2<lshlrev, false>, kI),
    row("v_pk_lshrrev_b16", pk2<lshrrev, false>, kI),
    row("v_pk_ashrrev_i16", pk2<ashrrev, false>, kI),
    row("v_pk_min_i16", pk2<min_i, false>, kI),
    row("v_pk_max_i16", pk2<max_i, false>, kI),
    row("v_pk_min_u16", pk2<min_u, false>, kI),
    row("v_pk_max_u16", pk2<max_u, false>, kI),
    row("v_pk_add_f16", pk2<half_add, true>, kH),
    row("v_pk_mul_f16", pk2<half_mul, true>, kH),
    row("v_pk_min_f16", pk2<half_min, true>, kH),
    row("v_pk_max_f16", pk2<half_max, true>, kH),
    row("v_pk_fma_f16", pk3<half_fma, true>, kH),
    row("v_pk_minimum3_f16", pk3<half_minimum3, true>, kH),
    row("v_pk_maximum3_f16", pk3<half_maximum3, true>, kH),
    row("v_pk_fmac_f16", pk_fmac_f16, kH),
    mix_row("v_fma_mix_f32", fma_mix<Mix::f32>),
    mix_row("v_fma_mixlo_f16", fma_mix<Mix::low>),
    mix_row("v_fma_mixhi_f16", fma_mix<Mix::high>),
};

}  // namespace

OpTable vop_packed_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
