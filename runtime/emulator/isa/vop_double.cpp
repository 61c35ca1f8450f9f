// fp64 arithmetic and the steps of its division.
#include "runtime/emulator/float_mode.h"
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/math.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

constexpr u64 kInfinity64 = 0x7ff0000000000000, kSign64 = u64{1} << 63, kQuiet64 = u64{1} << 51;
constexpr u64 kDefaultNan64 = 0x7ff8000000000000;

BATON_INLINE bool nan64(u64 x) { return (x & ~kSign64) > kInfinity64; }
BATON_INLINE u64 nan_of64(u64 a, u64 b, u64 c) {
  return nan64(a)   ? a | kQuiet64
         : nan64(b) ? b | kQuiet64
         : nan64(c) ? c | kQuiet64
                    : kDefaultNan64;
}
/// `omod` and clamp of an fp64 result.
BATON_INLINE u64 finish64(const Wave& w, const Instruction& in, u64 r) {
  if (!in.omod && !(in.flags & kClamp)) return r;
  double x = as_f64(r);
  if (in.omod) x *= in.omod == 1 ? 2.0 : in.omod == 2 ? 4.0 : 0.5;
  if (in.flags & kClamp) {
    if (x != x) {
      if (w.mode & kModeDx10Clamp) x = 0.0;
    } else {
      x = x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
    }
  }
  return as_u64(x);
}

template <u64 (*Op)(u64)>
void one(Wave& w, const Instruction& in) {
  const WideFloatMode mode(w);
  Lanes s0[2];
  const Pair a = fetch64(w, in, 0, s0);
  write64(w, in, [&](int i) { return finish64(w, in, Op(join(a.lo[i], a.hi[i]))); });
}
template <u64 (*Op)(u64, u64)>
void two(Wave& w, const Instruction& in) {
  const WideFloatMode mode(w);
  Lanes s0[2], s1[2];
  const Pair a = fetch64(w, in, 0, s0), b = fetch64(w, in, 1, s1);
  write64(w, in, [&](int i) {
    return finish64(w, in, Op(join(a.lo[i], a.hi[i]), join(b.lo[i], b.hi[i])));
  });
}
template <u64 (*Op)(u64, u64, u64)>
void three(Wave& w, const Instruction& in) {
  const WideFloatMode mode(w);
  Lanes s0[2], s1[2], s2[2];
  const Pair a = fetch64(w, in, 0, s0), b = fetch64(w, in, 1, s1), c = fetch64(w, in, 2, s2);
  write64(w, in, [&](int i) {
    return finish64(w, in,
                    Op(join(a.lo[i], a.hi[i]), join(b.lo[i], b.hi[i]), join(c.lo[i], c.hi[i])));
  });
}

BATON_INLINE u64 result(double r, u64 a, u64 b, u64 c) {
  return r != r ? nan_of64(a, b, c) : as_u64(r);
}
u64 add(u64 a, u64 b) { return result(as_f64(a) + as_f64(b), a, b, a); }
u64 mul(u64 a, u64 b) { return result(as_f64(a) * as_f64(b), a, b, a); }
u64 fma(u64 a, u64 b, u64 c) {
  return result(__builtin_fma(as_f64(a), as_f64(b), as_f64(c)), a, b, c);
}
BATON_INLINE int64_t key(u64 x) {
  return x & kSign64 ? -static_cast<int64_t>(x & ~kSign64) - 1 : static_cast<int64_t>(x);
}
BATON_INLINE bool signaling(u64 x) { return nan64(x) && !(x & kQuiet64); }
u64 min(u64 a, u64 b) {
  if (signaling(a)) return a | kQuiet64;
  if (signaling(b)) return b | kQuiet64;
  if (nan64(a)) return b;
  if (nan64(b)) return a;
  return key(a) < key(b) ? a : b;
}
u64 max(u64 a, u64 b) {
  if (signaling(a)) return a | kQuiet64;
  if (signaling(b)) return b | kQuiet64;
  if (nan64(a)) return b;
  if (nan64(b)) return a;
  return key(a) > key(b) ? a : b;
}
u64 trunc(u64 a) { return result(__builtin_trunc(as_f64(a)), a, a, a); }
u64 ceil(u64 a) { return result(__builtin_ceil(as_f64(a)), a, a, a); }
u64 floor(u64 a) { return result(__builtin_floor(as_f64(a)), a, a, a); }
u64 rndne(u64 a) { return result(__builtin_roundeven(as_f64(a)), a, a, a); }
u64 fract(u64 a) {
  constexpr double kMost = 0x1.fffffffffffffp-1;
  const double f = as_f64(a) - __builtin_floor(as_f64(a));
  return result(f > kMost ? kMost : f, a, a, a);
}
BATON_INLINE int exponent(u64 x) { return static_cast<int>((x >> 52) & 0x7ff); }
u64 frexp_mant(u64 a) {
  if (exponent(a) == 0x7ff) return nan64(a) ? a | kQuiet64 : a;
  if ((a & ~kSign64) == 0) return a;
  int e;
  return as_u64(__builtin_frexp(as_f64(a), &e));
}

void fmac(Wave& w, const Instruction& in) {
  const WideFloatMode mode(w);
  Lanes s0[2], s1[2];
  const Pair a = fetch64(w, in, 0, s0), b = fetch64(w, in, 1, s1);
  const u32* lo = w.row(in.dst);
  const u32* hi = w.row(in.dst, 1);
  write64(w, in, [&](int i) {
    return finish64(w, in, fma(join(a.lo[i], a.hi[i]), join(b.lo[i], b.hi[i]), join(lo[i], hi[i])));
  });
}

void ldexp(Wave& w, const Instruction& in) {
  const WideFloatMode mode(w);
  Lanes s0[2], s1;
  const Pair a = fetch64(w, in, 0, s0);
  const u32* n = fetch(w, in, 1, s1);
  write64(w, in, [&](int i) {
    const u64 x = join(a.lo[i], a.hi[i]);
    return finish64(w, in, result(__builtin_ldexp(as_f64(x), static_cast<int>(n[i])), x, x, x));
  });
}

void frexp_exp(Wave& w, const Instruction& in) {
  Lanes s0[2], r;
  const Pair a = fetch64(w, in, 0, s0);
  for (int i = 0; i < kLanes; ++i) {
    const u64 x = join(a.lo[i], a.hi[i]);
    const u64 magnitude = x & ~kSign64;
    int e = 0;  // of x = f 2^e with 0.5 <= |f| < 1; 0 for zero, infinity and NaN
    if (exponent(x) == 0 && magnitude) {
      e = -1010 - __builtin_clzll(magnitude);
    } else if (magnitude && exponent(x) != 0x7ff) {
      e = exponent(x) - 1022;
    }
    r.v[i] = static_cast<u32>(e);
  }
  write(w, in, r.v);
}

void div_scale(Wave& w, const Instruction& in) {
  const WideFloatMode mode(w);
  Lanes s0[2], s1[2], s2[2];
  const Pair a = fetch64(w, in, 0, s0), b = fetch64(w, in, 1, s1), c = fetch64(w, in, 2, s2);
  u64 vcc = 0;
  write64(w, in, [&](int i) {
    const u64 xb = join(a.lo[i], a.hi[i]), db = join(b.lo[i], b.hi[i]), nb = join(c.lo[i], c.hi[i]);
    const double x = as_f64(xb), d = as_f64(db), n = as_f64(nb);
    const double inverse = 1.0 / d, quotient = n / d;
    const auto tiny = [](double v) { return __builtin_fabs(v) < 0x1p-1022; };
    const bool denormal_d = exponent(db) == 0 && d != 0;
    bool scaled = false;
    double y = x;
    if (n == 0 || d == 0) {
      return kDefaultNan64;
    } else if (exponent(nb) - exponent(db) >= 768) {
      scaled = true;
      if (x == d) y = x * 0x1p128;
    } else if (denormal_d) {
      y = x * 0x1p128;
    } else if (tiny(inverse) && tiny(quotient)) {
      scaled = true;
      if (x == d) y = x * 0x1p-128;
    } else if (tiny(inverse)) {
      y = x * 0x1p-128;
    } else if (tiny(quotient)) {
      scaled = true;
      if (x == n) y = x * 0x1p128;
    } else if (exponent(nb) <= 53) {
      y = x * 0x1p128;
    }
    if (scaled) vcc |= u64{1} << i;
    return result(y, xb, xb, xb);
  });
  w.set_sgpr64(in.sdst.index, vcc & w.exec());
}

void div_fmas(Wave& w, const Instruction& in) {
  const WideFloatMode mode(w);
  Lanes s0[2], s1[2], s2[2];
  const Pair a = fetch64(w, in, 0, s0), b = fetch64(w, in, 1, s1), c = fetch64(w, in, 2, s2);
  const u64 vcc = w.vcc();
  write64(w, in, [&](int i) {
    const u64 x = join(a.lo[i], a.hi[i]), y = join(b.lo[i], b.hi[i]), z = join(c.lo[i], c.hi[i]);
    if (!((vcc >> i) & 1)) return fma(x, y, z);
    return result(scaled_fma(as_f64(x), as_f64(y), as_f64(z), exponent(z) > 1023 ? 128 : -128), x,
                  y, z);
  });
}

u64 div_fixup(u64 q, u64 den, u64 num) {
  const u64 sign = (den ^ num) & kSign64, d = den & ~kSign64, n = num & ~kSign64;
  if (nan64(num)) return num | kQuiet64;
  if (nan64(den)) return den | kQuiet64;
  if ((d == 0 && n == 0) || (d == kInfinity64 && n == kInfinity64)) return 0xfff8000000000000;
  if (d == 0 || n == kInfinity64) return sign | kInfinity64;
  if (d == kInfinity64 || n == 0) return sign;
  if (exponent(num) - exponent(den) < -1075) return sign;
  if (nan64(q)) return sign | kInfinity64;
  return sign | (q & ~kSign64);
}

/// 2 / pi, its first 1201 bits behind the point, the first highest; zeros behind them.
constexpr u64 kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000};
constexpr int kTwoOverPiWords = sizeof(kTwoOverPi) / sizeof(kTwoOverPi[0]);

/// The 53 bits of 2 / pi from bit `from` on.
u64 two_over_pi(u32 from) {
  const u32 word = from / 64, bit = from % 64;
  const auto at = [](u32 i) { return i < kTwoOverPiWords ? kTwoOverPi[i] : 0; };
  const u64 high = at(word) << bit | (bit ? at(word + 1) >> (64 - bit) : 0);
  return high >> 11;
}

/// A segment of 2 / pi for the reduction of a large angle: which, says the second source, and the
/// exponent of the first. Results of very large exponents are brought down by 2^128, as in
/// hardware.
void trig_preop(Wave& w, const Instruction& in) {
  const WideFloatMode mode(w);
  Lanes s0[2], s1;
  const Pair a = fetch64(w, in, 0, s0);
  const u32* segment = fetch(w, in, 1, s1);
  write64(w, in, [&](int i) {
    constexpr u32 kBits = 53, kFree = 1077, kBroughtDown = 1968;
    const u32 exponent = a.hi[i] >> 20 & 0x7ff;
    const u32 shift = (segment[i] & 31) * kBits + (exponent > kFree ? exponent - kFree : 0);
    const int scale = -static_cast<int>(kBits + shift) + (exponent >= kBroughtDown ? 128 : 0);
    const double bits = static_cast<double>(two_over_pi(shift));
    return finish64(w, in, as_u64(__builtin_ldexp(bits, scale)));
  });
}

constexpr Type kD = Type::f64;
constexpr OpRow row(const char* name, Handler h) {
  return {name, h, OpClass::valu, 1, kD, {kD, kD, kD}};
}

constexpr OpRow kRows[] = {
    row("v_add_f64", two<add>),
    row("v_mul_f64", two<mul>),
    row("v_min_f64", two<min>),
    row("v_max_f64", two<max>),
    row("v_fma_f64", three<fma>),
    row("v_fmac_f64", fmac),
    row("v_trunc_f64", one<trunc>),
    row("v_ceil_f64", one<ceil>),
    row("v_floor_f64", one<floor>),
    row("v_rndne_f64", one<rndne>),
    row("v_fract_f64", one<fract>),
    row("v_frexp_mant_f64", one<frexp_mant>),
    {"v_frexp_exp_i32_f64", frexp_exp, OpClass::valu, 1, Type::b32, {kD, kD, kD}},
    {"v_trig_preop_f64", trig_preop, OpClass::valu, 1, kD, {kD, Type::b32, Type::b32}},
    {"v_ldexp_f64", ldexp, OpClass::valu, 1, kD, {kD, Type::b32, Type::b32}},
    {"v_div_scale_f64", div_scale, OpClass::valu, 2, kD, {kD, kD, kD}},
    row("v_div_fmas_f64", div_fmas),
    row("v_div_fixup_f64", three<div_fixup>),
};

}  // namespace

OpTable vop_double_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
