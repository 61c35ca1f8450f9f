// 16-bit vector instructions. Those that gfx9 has from its forerunner zero the other half of the
// result's register; the newer ones leave it alone.
#include "runtime/emulator/float_mode.h"
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/half_math.h"
#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

BATON_INLINE u32 low(u32 x) { return x & 0xffff; }
BATON_INLINE int32_t s16(u32 x) { return static_cast<int16_t>(x); }
BATON_INLINE u32 sat_i(int32_t x) {
  return static_cast<u32>(x > 32767 ? 32767 : x < -32768 ? -32768 : x) & 0xffff;
}

// -- integers -------------------------------------------------------------------------------------

u32 add_u(u32 a, u32 b) { return low(a + b); }
u32 sub_u(u32 a, u32 b) { return low(a - b); }
u32 subrev_u(u32 a, u32 b) { return low(b - a); }
u32 add_sat_u(u32 a, u32 b) {
  const u32 r = low(a) + low(b);
  return r > 0xffff ? 0xffff : r;
}
u32 sub_sat_u(u32 a, u32 b) { return low(a) < low(b) ? 0 : low(a) - low(b); }
u32 subrev_sat_u(u32 a, u32 b) { return sub_sat_u(b, a); }
u32 add_sat_i(u32 a, u32 b) { return sat_i(s16(a) + s16(b)); }
u32 sub_sat_i(u32 a, u32 b) { return sat_i(s16(a) - s16(b)); }
u32 mul_lo(u32 a, u32 b) { return low(low(a) * low(b)); }
u32 lshlrev(u32 a, u32 b) { return low(b << (a & 15)); }
u32 lshrrev(u32 a, u32 b) { return low(b) >> (a & 15); }
u32 ashrrev(u32 a, u32 b) { return low(static_cast<u32>(s16(b) >> (a & 15))); }
u32 min_u(u32 a, u32 b) { return low(a) < low(b) ? low(a) : low(b); }
u32 max_u(u32 a, u32 b) { return low(a) > low(b) ? low(a) : low(b); }
u32 min_i(u32 a, u32 b) { return s16(a) < s16(b) ? low(a) : low(b); }
u32 max_i(u32 a, u32 b) { return s16(a) > s16(b) ? low(a) : low(b); }
u32 min3_u(u32 a, u32 b, u32 c) { return min_u(min_u(a, b), c); }
u32 max3_u(u32 a, u32 b, u32 c) { return max_u(max_u(a, b), c); }
u32 med3_u(u32 a, u32 b, u32 c) { return max_u(min_u(a, b), min_u(max_u(a, b), c)); }
u32 min3_i(u32 a, u32 b, u32 c) { return min_i(min_i(a, b), c); }
u32 max3_i(u32 a, u32 b, u32 c) { return max_i(max_i(a, b), c); }
u32 med3_i(u32 a, u32 b, u32 c) { return max_i(min_i(a, b), min_i(max_i(a, b), c)); }
u32 mad(u32 a, u32 b, u32 c) { return low(low(a) * low(b) + low(c)); }
u32 mad_sat_u(u32 a, u32 b, u32 c) {
  const uint64_t r = uint64_t{low(a)} * low(b) + low(c);
  return r > 0xffff ? 0xffff : static_cast<u32>(r);
}
u32 mad_sat_i(u32 a, u32 b, u32 c) {
  const int64_t r = int64_t{s16(a)} * s16(b) + s16(c);
  return static_cast<u32>(r > 32767 ? 32767 : r < -32768 ? -32768 : r) & 0xffff;
}
u32 mad_u32_u16(u32 a, u32 b, u32 c) { return low(a) * low(b) + c; }
u32 mad_i32_i16(u32 a, u32 b, u32 c) { return static_cast<u32>(s16(a) * s16(b)) + c; }

void bitop3(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch(w, in, 2, s2);
  for (int i = 0; i < kLanes; ++i) {
    u32 value = 0;
    for (u32 k = 0; k < 8; ++k) {
      if (!((in.imm >> k) & 1)) continue;
      value |= (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) & (k & 1 ? c[i] : ~c[i]);
    }
    r.v[i] = low(value);
  }
  write(w, in, r.v);
}

// -- fp16 -----------------------------------------------------------------------------------------

u32 add_f(u32 a, u32 b) { return half_add(low(a), low(b)); }
u32 sub_f(u32 a, u32 b) {
  return half_result(half_value(low(a)) - half_value(low(b)), low(a), low(b), low(a));
}
u32 subrev_f(u32 a, u32 b) { return sub_f(b, a); }
u32 mul_f(u32 a, u32 b) { return half_mul(low(a), low(b)); }
BATON_INLINE u32 quiet(u32 h) { return half_is_nan(h) ? h | 0x200 : h; }
u32 min_f(u32 a, u32 b) { return quiet(half_min(low(a), low(b))); }
u32 max_f(u32 a, u32 b) { return quiet(half_max(low(a), low(b))); }
u32 fma_f(u32 a, u32 b, u32 c) { return half_fma(low(a), low(b), low(c)); }
/// v_mad_f16: two roundings.
u32 mad_f(u32 a, u32 b, u32 c) { return half_add(half_mul(low(a), low(b)), low(c)); }
u32 min3_f(u32 a, u32 b, u32 c) { return min_f(min_f(a, b), c); }
u32 max3_f(u32 a, u32 b, u32 c) { return max_f(max_f(a, b), c); }
u32 med3_f(u32 a, u32 b, u32 c) {
  a = low(a), b = low(b), c = low(c);
  if (half_is_nan(a) || half_is_nan(b) || half_is_nan(c)) return min3_f(a, b, c);
  const u32 high = max3_f(a, b, c);
  if (high == a) return max_f(b, c);
  return high == b ? max_f(a, c) : max_f(a, b);
}
template <float (*Op)(float)>
u32 round_f(u32 a) {
  const float x = half_value(low(a));
  return half_result(Op(x), low(a), low(a), low(a));
}
float op_trunc(float x) { return __builtin_truncf(x); }
float op_ceil(float x) { return __builtin_ceilf(x); }
float op_floor(float x) { return __builtin_floorf(x); }
float op_rndne(float x) { return __builtin_roundevenf(x); }
float op_fract(float x) {
  constexpr float kMost = 0x1.ffcp-1f;
  const float f = x - __builtin_floorf(x);
  return f > kMost ? kMost : f;
}
u32 frexp_exp(u32 a) {
  const u32 m = a & 0x7fff;
  if (m == 0 || m >= 0x7c00) return 0;
  const u32 e = m >> 10;
  if (e) return low(e - 14);
  return low(static_cast<u32>(-13 - (__builtin_clz(m) - 22)));
}
u32 frexp_mant(u32 a) {
  const u32 m = a & 0x7fff;
  if (m >= 0x7c00) return quiet(low(a));
  if (m == 0) return low(a);
  const u32 fraction = m >> 10 ? m & 0x3ff : (m << (__builtin_clz(m) - 21)) & 0x3ff;
  return (a & 0x8000) | 0x3800 | fraction;
}
u32 ldexp_f(u32 a, u32 b) {
  const float x = half_value(low(a));
  // In fp32 the power is exact, and the only rounding is to fp16.
  int n = s16(b);
  n = n > 100 ? 100 : n < -100 ? -100 : n;
  return half_result(__builtin_ldexpf(x, n), low(a), low(a), low(a));
}
u32 div_fixup(u32 q, u32 den, u32 num) {
  q = low(q), den = low(den), num = low(num);
  const u32 sign = (den ^ num) & 0x8000, d = den & 0x7fff, n = num & 0x7fff;
  if (half_is_nan(num)) return num | 0x200;
  if (half_is_nan(den)) return den | 0x200;
  if ((d == 0 && n == 0) || (d == 0x7c00 && n == 0x7c00)) return 0xfe00;
  if (d == 0 || n == 0x7c00) return sign | 0x7c00;
  if (d == 0x7c00 || n == 0) return sign;
  if (half_is_nan(q)) return sign | 0x7c00;
  return sign | (q & 0x7fff);
}
u32 pack_b32(u32 a, u32 b) { return low(a) | b << 16; }

template <u32 (*Op)(u32, u32, u32)>
void accumulate(Wave& w, const Instruction& in) {
  Lanes s0, s1, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch_dst(w, in);
  for (int i = 0; i < kLanes; ++i) r.v[i] = Op(a[i], b[i], c[i]);
  write(w, in, r.v);
}

constexpr OpClass kV = OpClass::valu;
constexpr Type kI = Type::b16, kH = Type::f16, kW = Type::b32;
constexpr OpRow row(const char* name, Handler h, Type type, Handler clamped = nullptr) {
  return {name, h, kV, 1, type, {type, type, type}, false, false, clamped};
}
constexpr OpRow keep(const char* name, Handler h, Type type, Handler clamped = nullptr) {
  return {name, h, kV, 1, type, {type, type, type}, true, false, clamped};
}

constexpr OpRow kRows[] = {
    row("v_add_u16", lanes2<add_u>, kI, lanes2<add_sat_u>),
    row("v_sub_u16", lanes2<sub_u>, kI, lanes2<sub_sat_u>),
    row("v_subrev_u16", lanes2<subrev_u>, kI, lanes2<subrev_sat_u>),
    row("v_mul_lo_u16", lanes2<mul_lo>, kI),
    row("v_lshlrev_b16", lanes2<lshlrev>, kI),
    row("v_lshrrev_b16", lanes2<lshrrev>, kI),
    row("v_ashrrev_i16", lanes2<ashrrev>, kI),
    row("v_min_u16", lanes2<min_u>, kI),
    row("v_max_u16", lanes2<max_u>, kI),
    row("v_min_i16", lanes2<min_i>, kI),
    row("v_max_i16", lanes2<max_i>, kI),
    keep("v_add_i16", lanes2<add_u>, kI, lanes2<add_sat_i>),
    keep("v_sub_i16", lanes2<sub_u>, kI, lanes2<sub_sat_i>),
    keep("v_min3_u16", lanes3<min3_u>, kI),
    keep("v_max3_u16", lanes3<max3_u>, kI),
    keep("v_med3_u16", lanes3<med3_u>, kI),
    keep("v_min3_i16", lanes3<min3_i>, kI),
    keep("v_max3_i16", lanes3<max3_i>, kI),
    keep("v_med3_i16", lanes3<med3_i>, kI),
    keep("v_mad_u16", lanes3<mad>, kI, lanes3<mad_sat_u>),
    keep("v_mad_i16", lanes3<mad>, kI, lanes3<mad_sat_i>),
    row("v_mad_legacy_u16", lanes3<mad>, kI, lanes3<mad_sat_u>),
    row("v_mad_legacy_i16", lanes3<mad>, kI, lanes3<mad_sat_i>),
    {"v_mad_u32_u16", lanes3<mad_u32_u16>, kV, 1, kW, {kI, kI, kW}},
    {"v_mad_i32_i16", lanes3<mad_i32_i16>, kV, 1, kW, {kI, kI, kW}},
    {"v_bitop3_b16", bitop3, kV, 1, kI, {kI, kI, kI}, true, true},
    row("v_add_f16", lanes2<add_f>, kH),
    row("v_sub_f16", lanes2<sub_f>, kH),
    row("v_subrev_f16", lanes2<subrev_f>, kH),
    row("v_mul_f16", lanes2<mul_f>, kH),
    row("v_min_f16", lanes2<min_f>, kH),
    row("v_max_f16", lanes2<max_f>, kH),
    keep("v_fma_f16", lanes3<fma_f>, kH),
    row("v_fma_legacy_f16", lanes3<fma_f>, kH),
    keep("v_mad_f16", lanes3<mad_f>, kH),
    row("v_mad_legacy_f16", lanes3<mad_f>, kH),
    keep("v_mac_f16", accumulate<mad_f>, kH),
    keep("v_madmk_f16", lanes3<mad_f>, kH),
    keep("v_madak_f16", lanes3<mad_f>, kH),
    keep("v_min3_f16", lanes3<min3_f>, kH),
    keep("v_max3_f16", lanes3<max3_f>, kH),
    keep("v_med3_f16", lanes3<med3_f>, kH),
    row("v_trunc_f16", lanes1<round_f<op_trunc>>, kH),
    row("v_ceil_f16", lanes1<round_f<op_ceil>>, kH),
    row("v_floor_f16", lanes1<round_f<op_floor>>, kH),
    row("v_rndne_f16", lanes1<round_f<op_rndne>>, kH),
    row("v_fract_f16", lanes1<round_f<op_fract>>, kH),
    {"v_frexp_exp_i16_f16", lanes1<frexp_exp>, kV, 1, kI, {kH, kH, kH}},
    row("v_frexp_mant_f16", lanes1<frexp_mant>, kH),
    {"v_ldexp_f16", lanes2<ldexp_f>, kV, 1, kH, {kH, kI, kI}},
    keep("v_div_fixup_f16", lanes3<div_fixup>, kH),
    row("v_div_fixup_legacy_f16", lanes3<div_fixup>, kH),
    {"v_pack_b32_f16", lanes2<pack_b32>, kV, 1, kW, {kH, kH, kH}},
};

}  // namespace

OpTable vop_half_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
