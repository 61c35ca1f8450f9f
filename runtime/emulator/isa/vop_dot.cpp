// Dot products of packed small numbers, and the sums of absolute differences with 64-bit operands.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/half_math.h"
#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

BATON_INLINE int64_t field(u32 x, int i, int bits, bool is_signed) {
  const u32 value = (x >> (i * bits)) & ((1u << bits) - 1);
  return is_signed ? int64_t{static_cast<int32_t>(value << (32 - bits)) >> (32 - bits)}
                   : int64_t{value};
}

/// A halves' choice by op_sel and op_sel_hi; only 16-bit elements have one.
BATON_INLINE u32 chosen(const Instruction& in, int which, u32 x) {
  const u32 lo = (in.op_sel >> which) & 1 ? x >> 16 : x & 0xffff;
  const u32 hi = (in.op_sel_hi >> which) & 1 ? x >> 16 : x & 0xffff;
  return lo | hi << 16;
}

template <int bits, bool is_signed, bool into_dst>
void dot_integer(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = into_dst ? fetch_dst(w, in) : fetch(w, in, into_dst ? 0 : 2, s2);
  const bool choose = bits == 16 && !into_dst;
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = choose ? chosen(in, 0, a[i]) : a[i], y = choose ? chosen(in, 1, b[i]) : b[i];
    int64_t sum = is_signed ? int64_t{static_cast<int32_t>(c[i])} : int64_t{c[i]};
    for (int k = 0; k < 32 / bits; ++k) {
      sum += field(x, k, bits, is_signed) * field(y, k, bits, is_signed);
    }
    if (in.flags & kClamp) {
      const int64_t top = is_signed ? 0x7fffffff : 0xffffffff;
      const int64_t bottom = is_signed ? -0x80000000ll : 0;
      sum = sum > top ? top : sum < bottom ? bottom : sum;
    }
    r.v[i] = static_cast<u32>(sum);
  }
  write_word(w, in.dst, 0, r.v);
}

/// Two products and the addend, one fused step after the other: low element first.
template <bool is_bf16, bool into_dst>
void dot_float(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = into_dst ? fetch_dst(w, in) : fetch(w, in, into_dst ? 0 : 2, s2);
  const auto value = [](u32 h) {
    return is_bf16 ? as_f32(h << 16) : f16_to_f32(static_cast<uint16_t>(h));
  };
  for (int i = 0; i < kLanes; ++i) {
    u32 x = into_dst ? a[i] : chosen(in, 0, a[i]), y = into_dst ? b[i] : chosen(in, 1, b[i]);
    if (!into_dst) {
      if (in.neg_lo & 1) x ^= 0x8000;
      if (in.neg_hi & 1) x ^= 0x80000000;
      if (in.neg_lo & 2) y ^= 0x8000;
      if (in.neg_hi & 2) y ^= 0x80000000;
    }
    float sum = as_f32(c[i]);
    if (!into_dst && (in.neg_lo & 4)) sum = -sum;
    sum = __builtin_fmaf(value(x & 0xffff), value(y & 0xffff), sum);
    r.v[i] = as_u32(__builtin_fmaf(value(x >> 16), value(y >> 16), sum));
  }
  write(w, in, r.v);
}

// -- sums of absolute differences over a sliding window -------------------------------------------

BATON_INLINE u32 byte(u32 x, int i) { return (x >> (8 * i)) & 0xff; }
BATON_INLINE u32 sad4(u32 a, u32 b, bool masked) {
  u32 sum = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 x = byte(a, i), y = byte(b, i);
    if (!masked || y) sum += x > y ? x - y : y - x;
  }
  return sum;
}
template <bool masked>
void sad_pk_u16(Wave& w, const Instruction& in) {
  Lanes s0[2], s1, s2[2];
  const Pair a = fetch64(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const Pair c = fetch64(w, in, 2, s2);
  write64(w, in, [&](int i) {
    const uint64_t window = join(a.lo[i], a.hi[i]), addend = join(c.lo[i], c.hi[i]);
    uint64_t r = 0;
    for (int k = 0; k < 4; ++k) {
      const uint64_t sum =
          ((addend >> (16 * k)) & 0xffff) + sad4(static_cast<u32>(window >> (8 * k)), b[i], masked);
      r |= (sum > 0xffff ? 0xffff : sum) << (16 * k);
    }
    return r;
  });
}
void mqsad_u32(Wave& w, const Instruction& in) {
  Lanes s0[2], s1, r[4];
  const Pair a = fetch64(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  for (int k = 0; k < 4; ++k) {
    const u32* c = w.row(in.src[2], k);
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t sum =
          uint64_t{c[i]} + sad4(static_cast<u32>(join(a.lo[i], a.hi[i]) >> (8 * k)), b[i], true);
      r[k].v[i] = sum > 0xffffffff ? 0xffffffff : static_cast<u32>(sum);
    }
  }
  for (int k = 0; k < 4; ++k) write_word(w, in.dst, k, r[k].v);
}

constexpr Type kI = Type::b32, kF = Type::f32;
constexpr OpRow integer(const char* name, Handler h) {
  return {name, h, OpClass::valu, 1, kI, {kI, kI, kI}};
}
constexpr OpRow floating(const char* name, Handler h, Type type) {
  return {name, h, OpClass::valu, 1, kF, {type, type, kF}};
}

constexpr OpRow kRows[] = {
    integer("v_dot2_i32_i16", dot_integer<16, true, false>),
    integer("v_dot2_u32_u16", dot_integer<16, false, false>),
    integer("v_dot4_i32_i8", dot_integer<8, true, false>),
    integer("v_dot4_u32_u8", dot_integer<8, false, false>),
    integer("v_dot8_i32_i4", dot_integer<4, true, false>),
    integer("v_dot8_u32_u4", dot_integer<4, false, false>),
    integer("v_dot2c_i32_i16", dot_integer<16, true, true>),
    integer("v_dot4c_i32_i8", dot_integer<8, true, true>),
    integer("v_dot8c_i32_i4", dot_integer<4, true, true>),
    floating("v_dot2_f32_f16", dot_float<false, false>, Type::pkf16),
    floating("v_dot2_f32_bf16", dot_float<true, false>, Type::pk16),
    floating("v_dot2c_f32_f16", dot_float<false, true>, Type::pkf16),
    floating("v_dot2c_f32_bf16", dot_float<true, true>, Type::pk16),
    {"v_qsad_pk_u16_u8",
     sad_pk_u16<false>,
     OpClass::valu,
     1,
     Type::b64,
     {Type::b64, kI, Type::b64}},
    {"v_mqsad_pk_u16_u8",
     sad_pk_u16<true>,
     OpClass::valu,
     1,
     Type::b64,
     {Type::b64, kI, Type::b64}},
    {"v_mqsad_u32_u8", mqsad_u32, OpClass::valu, 1, kI, {Type::b64, kI, kI}},
};

}  // namespace

OpTable vop_dot_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
