// fp32 arithmetic, min / max, rounding, and the steps of IEEE division.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/float32.h"
#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

void fix_nans(u32* r, const u32* a, const u32* b, const u32* c) {
  for (int i = 0; i < kLanes; ++i) {
    if (is_nan(r[i])) r[i] = nan_of(a[i], b[i], c[i]);
  }
}

template <float (*Op)(float, float)>
void float2(Wave& w, const Instruction& in) {
  Lanes s0, s1, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) r.v[i] = as_u32(Op(as_f32(a[i]), as_f32(b[i])));
  if (any_nan(r.v)) [[unlikely]]
    fix_nans(r.v, a, b, a);
  write(w, in, r.v);
}

BATON_INLINE float op_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// v_mad_f32, v_mac_f32: two roundings, subnormals flushed whatever MODE says.
BATON_INLINE float flush(float x) {
  const u32 bits = as_u32(x);
  return (bits & 0x7f800000) ? x : as_f32(bits & 0x80000000);
}
BATON_INLINE float op_mad(float a, float b, float c) {
  return flush(flush(flush(a) * flush(b)) + flush(c));
}

/// v_mad_legacy_f32: 0 times anything is 0.
BATON_INLINE float op_mad_legacy(float a, float b, float c) {
  const float x = flush(a), y = flush(b);
  return flush((x == 0.0f || y == 0.0f ? 0.0f : flush(x * y)) + flush(c));
}

/// Of sources kA, kB and kC; the third is the destination when kC is negative (v_fmac), and a
/// literal's place differs (v_fmamk, v_fmaak).
template <float (*Op)(float, float, float), int kA, int kB, int kC>
void float3(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, kA, s0);
  const u32* b = fetch(w, in, kB, s1);
  const u32* c = kC < 0 ? fetch_dst(w, in) : fetch(w, in, kC < 0 ? 0 : kC, s2);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) r.v[i] = as_u32(Op(as_f32(a[i]), as_f32(b[i]), as_f32(c[i])));
  if (any_nan(r.v)) [[unlikely]]
    fix_nans(r.v, a, b, c);
  write(w, in, r.v);
}

float op_add(float a, float b) { return a + b; }
float op_sub(float a, float b) { return a - b; }
float op_subrev(float a, float b) { return b - a; }
float op_mul(float a, float b) { return a * b; }
float op_mul_legacy(float a, float b) { return a == 0.0f || b == 0.0f ? 0.0f : a * b; }

template <u32 (*Op)(u32, u32)>
void minmax2(Wave& w, const Instruction& in) {
  Lanes s0, s1, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const bool ieee = w.mode & kModeIeee;
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    u32 x = Op(a[i], b[i]);
    x = ieee && is_signaling(b[i]) ? b[i] | kQuiet : x;
    x = ieee && is_signaling(a[i]) ? a[i] | kQuiet : x;
    r.v[i] = x;
  }
  write(w, in, r.v);
}

BATON_INLINE u32 quiet(u32 x, bool ieee) { return ieee && is_signaling(x) ? x | kQuiet : x; }

enum class Three { min, max, med };

template <Three kind>
void minmax3(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch(w, in, 2, s2);
  const bool ieee = w.mode & kModeIeee;
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = quiet(a[i], ieee), y = quiet(b[i], ieee), z = quiet(c[i], ieee);
    const u32 low = min_number(min_number(x, y), z), high = max_number(max_number(x, y), z);
    if (kind == Three::min) {
      r.v[i] = low;
    } else if (kind == Three::max) {
      r.v[i] = high;
    } else if (is_nan(x) || is_nan(y) || is_nan(z)) {
      r.v[i] = low;
    } else if (high == x) {
      r.v[i] = max_number(y, z);
    } else if (high == y) {
      r.v[i] = max_number(x, z);
    } else {
      r.v[i] = max_number(x, y);
    }
  }
  write(w, in, r.v);
}

/// IEEE 754-2019 minimum and maximum: a NaN wins.
template <bool is_max>
void minimum3(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch(w, in, 2, s2);
  for (int i = 0; i < kLanes; ++i) {
    const u32 m = is_max ? max_number(max_number(a[i], b[i]), c[i])
                         : min_number(min_number(a[i], b[i]), c[i]);
    r.v[i] = is_nan(a[i]) || is_nan(b[i]) || is_nan(c[i]) ? nan_of(a[i], b[i], c[i]) : m;
  }
  write(w, in, r.v);
}

template <float (*Op)(float)>
void round1(Wave& w, const Instruction& in) {
  Lanes s0, r;
  const u32* a = fetch(w, in, 0, s0);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) r.v[i] = as_u32(Op(as_f32(a[i])));
  if (any_nan(r.v)) [[unlikely]]
    fix_nans(r.v, a, a, a);
  write(w, in, r.v);
}
float op_trunc(float x) { return __builtin_truncf(x); }
float op_ceil(float x) { return __builtin_ceilf(x); }
float op_floor(float x) { return __builtin_floorf(x); }
float op_rndne(float x) { return __builtin_roundevenf(x); }
float op_fract(float x) {
  const float f = x - __builtin_floorf(x);
  return f < 0x1.fffffep-1f ? f : (f != f ? f : 0x1.fffffep-1f);
}

BATON_INLINE int exponent(u32 x) { return static_cast<int>((x >> 23) & 0xff); }
BATON_INLINE bool is_subnormal(u32 x) { return !(x & kInfinity) && (x & 0x7fffff); }

/// The scaled operand of an IEEE division, and whether v_div_fmas has to scale the quotient back.
void div_scale(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* den = fetch(w, in, 1, s1);
  const u32* num = fetch(w, in, 2, s2);
  uint64_t vcc = 0;
  for (int i = 0; i < kLanes; ++i) {
    const float x = as_f32(a[i]), d = as_f32(den[i]), n = as_f32(num[i]);
    const double inverse = 1.0 / static_cast<double>(d);
    const double quotient = static_cast<double>(n) / static_cast<double>(d);
    const bool tiny_inverse = __builtin_fabs(inverse) < 0x1p-126 && inverse != 0;
    const bool tiny_quotient = __builtin_fabs(quotient) < 0x1p-126 && quotient != 0;
    float y = x;
    bool scaled = false;
    if (n == 0.0f || d == 0.0f) {
      y = as_f32(kDefaultNan);
    } else if (exponent(num[i]) - exponent(den[i]) >= 96) {
      scaled = true;
      if (x == d) y = x * 0x1p64f;
    } else if (is_subnormal(den[i])) {
      y = x * 0x1p64f;
    } else if (tiny_inverse && tiny_quotient) {
      scaled = true;
      if (x == d) y = x * 0x1p-64f;
    } else if (tiny_inverse) {
      y = x * 0x1p-64f;
    } else if (tiny_quotient) {
      scaled = true;
      if (x == n) y = x * 0x1p64f;
    } else if (exponent(num[i]) <= 23) {
      y = x * 0x1p64f;
    }
    if (scaled) vcc |= uint64_t{1} << i;
    r.v[i] = as_u32(y);
  }
  if (any_nan(r.v)) [[unlikely]]
    fix_nans(r.v, a, a, a);
  write(w, in, r.v);
  w.set_sgpr64(in.sdst.index, vcc & w.exec());
}

void div_fmas(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch(w, in, 2, s2);
  const uint64_t vcc = w.vcc();
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    r.v[i] = as_u32(__builtin_fmaf(as_f32(a[i]), as_f32(b[i]), as_f32(c[i])));
  }
  if (vcc) {
    for (int i = 0; i < kLanes; ++i) {
      if (!((vcc >> i) & 1)) continue;
      // The quotient's estimate says which way the operands were scaled. One rounding, as hardware.
      const double exact = static_cast<double>(as_f32(a[i])) * static_cast<double>(as_f32(b[i]));
      const double scale = exponent(c[i]) > 127 ? 0x1p64 : 0x1p-64;
      r.v[i] = as_u32(static_cast<float>((exact + static_cast<double>(as_f32(c[i]))) * scale));
    }
  }
  if (any_nan(r.v)) [[unlikely]]
    fix_nans(r.v, a, b, c);
  write(w, in, r.v);
}

u32 div_fixup_lane(u32 quotient, u32 den, u32 num) {
  const u32 sign = (den ^ num) & 0x80000000;
  const u32 d = den & 0x7fffffff, n = num & 0x7fffffff;
  if (is_nan(num)) return num | kQuiet;
  if (is_nan(den)) return den | kQuiet;
  if ((d == 0 && n == 0) || (d == kInfinity && n == kInfinity)) return 0xffc00000;
  if (d == 0 || n == kInfinity) return sign | kInfinity;
  if (d == kInfinity || n == 0) return sign;
  if (exponent(num) - exponent(den) < -150) return sign;
  // Finite operands whose quotient's steps ended in inf - inf: it lies beyond the range.
  if (is_nan(quotient)) return sign | kInfinity;
  return sign | (quotient & 0x7fffffff);
}

void div_fixup(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch(w, in, 2, s2);
  for (int i = 0; i < kLanes; ++i) r.v[i] = div_fixup_lane(a[i], b[i], c[i]);
  write(w, in, r.v);
}

void ldexp32(Wave& w, const Instruction& in) {
  Lanes s0, s1, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  for (int i = 0; i < kLanes; ++i) {
    r.v[i] = as_u32(__builtin_ldexpf(as_f32(a[i]), static_cast<int>(b[i])));
  }
  if (any_nan(r.v)) [[unlikely]]
    fix_nans(r.v, a, a, a);
  write(w, in, r.v);
}

u32 op_frexp_exp(u32 x) {
  if ((x & 0x7fffffff) == 0 || exponent(x) == 255) return 0;
  if (exponent(x)) return static_cast<u32>(exponent(x) - 126);
  return static_cast<u32>(-125 - (__builtin_clz(x & 0x7fffff) - 8));
}
u32 op_frexp_mant(u32 x) {
  if (exponent(x) == 255) return is_nan(x) ? x | kQuiet : x;
  if ((x & 0x7fffffff) == 0) return x;
  u32 mantissa = x & 0x7fffff;
  if (!exponent(x)) mantissa = (mantissa << (__builtin_clz(mantissa) - 8)) & 0x7fffff;
  return (x & 0x80000000) | 0x3f000000 | mantissa;
}

// -- cube map coordinates -------------------------------------------------------------------------

struct Cube {
  float id, s, t, m;
};
Cube cube(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay) return {z < 0 ? 5.0f : 4.0f, z < 0 ? -x : x, -y, z * 2};
  if (ay >= ax) return {y < 0 ? 3.0f : 2.0f, x, y < 0 ? -z : z, y * 2};
  return {x < 0 ? 1.0f : 0.0f, x < 0 ? z : -z, -y, x * 2};
}
template <float Cube::* member>
void cube_op(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch(w, in, 2, s2);
  for (int i = 0; i < kLanes; ++i) {
    r.v[i] = as_u32(cube(as_f32(a[i]), as_f32(b[i]), as_f32(c[i])).*member);
  }
  write(w, in, r.v);
}

constexpr Type kF = Type::f32;
constexpr OpRow row(const char* name, Handler h) {
  return {name, h, OpClass::valu, 1, kF, {kF, kF, kF}};
}

constexpr OpRow kRows[] = {
    row("v_add_f32", float2<op_add>),
    row("v_sub_f32", float2<op_sub>),
    row("v_subrev_f32", float2<op_subrev>),
    row("v_mul_f32", float2<op_mul>),
    row("v_mul_legacy_f32", float2<op_mul_legacy>),
    row("v_fma_f32", float3<op_fma, 0, 1, 2>),
    row("v_fmac_f32", float3<op_fma, 0, 1, -1>),
    row("v_fmamk_f32", float3<op_fma, 0, 1, 2>),
    row("v_fmaak_f32", float3<op_fma, 0, 1, 2>),
    row("v_mad_f32", float3<op_mad, 0, 1, 2>),
    row("v_mad_legacy_f32", float3<op_mad_legacy, 0, 1, 2>),
    row("v_mac_f32", float3<op_mad, 0, 1, -1>),
    row("v_madmk_f32", float3<op_mad, 0, 1, 2>),
    row("v_madak_f32", float3<op_mad, 0, 1, 2>),
    row("v_min_f32", minmax2<min_number>),
    row("v_max_f32", minmax2<max_number>),
    row("v_min3_f32", minmax3<Three::min>),
    row("v_max3_f32", minmax3<Three::max>),
    row("v_med3_f32", minmax3<Three::med>),
    row("v_minimum3_f32", minimum3<false>),
    row("v_maximum3_f32", minimum3<true>),
    row("v_trunc_f32", round1<op_trunc>),
    row("v_ceil_f32", round1<op_ceil>),
    row("v_floor_f32", round1<op_floor>),
    row("v_rndne_f32", round1<op_rndne>),
    row("v_fract_f32", round1<op_fract>),
    {"v_div_scale_f32", div_scale, OpClass::valu, 2, kF, {kF, kF, kF}},
    row("v_div_fmas_f32", div_fmas),
    row("v_div_fixup_f32", div_fixup),
    {"v_ldexp_f32", ldexp32, OpClass::valu, 1, kF, {kF, Type::b32, Type::b32}},
    {"v_frexp_exp_i32_f32", lanes1<op_frexp_exp>, OpClass::valu, 1, Type::b32, {kF, kF, kF}},
    row("v_frexp_mant_f32", lanes1<op_frexp_mant>),
    row("v_cubeid_f32", cube_op<&Cube::id>),
    row("v_cubesc_f32", cube_op<&Cube::s>),
    row("v_cubetc_f32", cube_op<&Cube::t>),
    row("v_cubema_f32", cube_op<&Cube::m>),
};

}  // namespace

OpTable vop_float_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
