// Conversions between 32-bit and 64-bit numbers, and to packed 16-bit and 8-bit integers.
#include "runtime/emulator/float_mode.h"
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/float32.h"
#include "runtime/emulator/isa/half.h"
#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

u32 op_f32_i32(u32 a) { return as_u32(static_cast<float>(static_cast<int32_t>(a))); }
u32 op_f32_u32(u32 a) { return as_u32(static_cast<float>(a)); }
template <int byte>
u32 op_f32_ubyte(u32 a) {
  return as_u32(static_cast<float>((a >> (8 * byte)) & 0xff));
}
u32 op_off_f32_i4(u32 a) {
  const int32_t nibble = static_cast<int32_t>(a << 28) >> 28;
  return as_u32(static_cast<float>(nibble) * 0.0625f);
}

/// Truncation that saturates; NaN gives 0.
BATON_INLINE u32 to_i32(float x) {
  if (x != x) return 0;
  if (x >= 0x1p31f) return 0x7fffffff;
  if (x <= -0x1p31f) return 0x80000000;
  return static_cast<u32>(static_cast<int32_t>(x));
}
BATON_INLINE u32 to_u32(float x) {
  if (!(x > 0)) return 0;
  if (x >= 0x1p32f) return ~0u;
  return static_cast<u32>(x);
}
u32 op_i32_f32(u32 a) { return to_i32(as_f32(a)); }
u32 op_u32_f32(u32 a) { return to_u32(as_f32(a)); }
u32 op_rpi(u32 a) { return to_i32(__builtin_floorf(as_f32(a) + 0.5f)); }
u32 op_flr(u32 a) { return to_i32(__builtin_floorf(as_f32(a))); }

// -- fp16 and bf16 --------------------------------------------------------------------------------

u32 op_f32_f16(u32 a) { return as_u32(f16_to_f32(static_cast<uint16_t>(a))); }
u32 op_f16_f32(u32 a) { return f32_to_f16(as_f32(a)); }
u32 op_f32_bf16(u32 a) {
  const u32 x = a << 16;
  return is_nan(x) ? x | kQuiet : x;
}
u32 op_pk_bf16(u32 a, u32 b) { return f32_to_bf16(as_f32(a)) | f32_to_bf16(as_f32(b)) << 16; }
u32 op_pk_f16(u32 a, u32 b) {
  return u32{f32_to_f16(as_f32(a))} | u32{f32_to_f16(as_f32(b))} << 16;
}
/// Toward zero: what lies above the largest half stays there.
BATON_INLINE u32 to_half_rtz(float x) {
  const u32 bits = as_u32(x), sign = (bits >> 16) & 0x8000, m = bits & 0x7fffffff;
  if (m > kInfinity) return sign | 0x7e00 | ((m >> 13) & 0x3ff);
  if (m == kInfinity) return sign | 0x7c00;
  if (m >= 0x47800000) return sign | 0x7bff;
  if (m >= 0x38800000) return sign | ((m - (112u << 23)) >> 13);
  return sign | static_cast<u32>(as_f32(m) * 0x1p24f);
}
u32 op_pkrtz(u32 a, u32 b) { return to_half_rtz(as_f32(a)) | to_half_rtz(as_f32(b)) << 16; }

// -- packed integers ------------------------------------------------------------------------------

BATON_INLINE u32 norm_i16(float x) {
  if (x != x) return 0;
  const float c = x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x;
  return static_cast<u32>(static_cast<int32_t>(__builtin_roundevenf(c * 32767.0f))) & 0xffff;
}
BATON_INLINE u32 norm_u16(float x) {
  if (!(x > 0)) return 0;
  return static_cast<u32>(__builtin_roundevenf((x > 1.0f ? 1.0f : x) * 65535.0f));
}
u32 op_pknorm_i16(u32 a, u32 b) { return norm_i16(as_f32(a)) | norm_i16(as_f32(b)) << 16; }
u32 op_pknorm_u16(u32 a, u32 b) { return norm_u16(as_f32(a)) | norm_u16(as_f32(b)) << 16; }
BATON_INLINE float half(u32 x) { return f16_to_f32(static_cast<uint16_t>(x)); }
u32 op_pknorm_i16_h(u32 a, u32 b) { return norm_i16(half(a)) | norm_i16(half(b)) << 16; }
u32 op_pknorm_u16_h(u32 a, u32 b) { return norm_u16(half(a)) | norm_u16(half(b)) << 16; }
u32 op_norm_i16_f16(u32 a) { return norm_i16(half(a)); }
u32 op_norm_u16_f16(u32 a) { return norm_u16(half(a)); }
u32 op_pk_u16_u32(u32 a, u32 b) {
  return (a > 0xffff ? 0xffff : a) | (b > 0xffff ? 0xffff : b) << 16;
}
u32 op_pk_i16_i32(u32 a, u32 b) {
  const auto clamp = [](u32 v) {
    const int32_t x = static_cast<int32_t>(v);
    return static_cast<u32>(x < -32768 ? -32768 : x > 32767 ? 32767 : x) & 0xffff;
  };
  return clamp(a) | clamp(b) << 16;
}
/// Byte `b` of `c` becomes the rounded, saturated value.
u32 op_pk_u8_f32(u32 a, u32 b, u32 c) {
  const float x = as_f32(a);
  const float r = !(x > 0) ? 0.0f : x > 255.0f ? 255.0f : __builtin_roundevenf(x);
  const u32 shift = 8 * (b & 3);
  return (c & ~(0xffu << shift)) | static_cast<u32>(r) << shift;
}
void pkaccum_u8(Wave& w, const Instruction& in) {
  Lanes s0, s1, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch_dst(w, in);
  for (int i = 0; i < kLanes; ++i) r.v[i] = op_pk_u8_f32(a[i], b[i], c[i]);
  write(w, in, r.v);
}

// -- 64 bits --------------------------------------------------------------------------------------

template <u32 (*Op)(double)>
void from_f64(Wave& w, const Instruction& in) {
  Lanes s0[2], r;
  const Pair a = fetch64(w, in, 0, s0);
  for (int i = 0; i < kLanes; ++i) r.v[i] = Op(as_f64(join(a.lo[i], a.hi[i])));
  write(w, in, r.v);
}
u32 op_f32_f64(double x) {
  if (x == x) return as_u32(static_cast<float>(x));
  const uint64_t bits = as_u64(x);
  return static_cast<u32>(bits >> 32 & 0x80000000) | 0x7fc00000 |
         static_cast<u32>(bits >> 29 & 0x3fffff);
}
u32 op_i32_f64(double x) {
  if (x != x) return 0;
  if (x >= 0x1p31) return 0x7fffffff;
  if (x <= -0x1p31) return 0x80000000;
  return static_cast<u32>(static_cast<int32_t>(x));
}
u32 op_u32_f64(double x) {
  if (!(x > 0)) return 0;
  return x >= 0x1p32 ? ~0u : static_cast<u32>(x);
}

template <double (*Op)(u32)>
void to_f64(Wave& w, const Instruction& in) {
  Lanes s0;
  const u32* a = fetch(w, in, 0, s0);
  write64(w, in, [&](int i) { return as_u64(Op(a[i])); });
}
double op_f64_i32(u32 a) { return static_cast<double>(static_cast<int32_t>(a)); }
double op_f64_u32(u32 a) { return static_cast<double>(a); }
double op_f64_f32(u32 a) {
  if (!is_nan(a)) return static_cast<double>(as_f32(a));
  return as_f64(uint64_t{a & 0x80000000} << 32 | uint64_t{0x7ff8000000000000} |
                uint64_t{a & 0x3fffff} << 29);
}

// -- fp16 and integers ----------------------------------------------------------------------------

u32 op_f16_u16(u32 a) { return f32_to_f16(static_cast<float>(a & 0xffff)); }
u32 op_f16_i16(u32 a) { return f32_to_f16(static_cast<float>(static_cast<int16_t>(a))); }
u32 op_u16_f16(u32 a) {
  const u32 x = to_u32(half(a));
  return x > 0xffff ? 0xffff : x;
}
u32 op_i16_f16(u32 a) {
  const int32_t x = static_cast<int32_t>(to_i32(half(a)));
  return static_cast<u32>(x > 32767 ? 32767 : x < -32768 ? -32768 : x) & 0xffff;
}

constexpr OpRow row(const char* name, Handler h, Type result, Type a, Type b = Type::f32,
                    Type c = Type::b32) {
  return {name, h, OpClass::valu, 1, result, {a, b, c}};
}
constexpr Type kF = Type::f32, kB = Type::b32, kH = Type::f16, kD = Type::f64;

constexpr OpRow kRows[] = {
    row("v_cvt_f32_i32", lanes1<op_f32_i32>, kF, kB),
    row("v_cvt_f32_u32", lanes1<op_f32_u32>, kF, kB),
    row("v_cvt_f32_ubyte0", lanes1<op_f32_ubyte<0>>, kF, kB),
    row("v_cvt_f32_ubyte1", lanes1<op_f32_ubyte<1>>, kF, kB),
    row("v_cvt_f32_ubyte2", lanes1<op_f32_ubyte<2>>, kF, kB),
    row("v_cvt_f32_ubyte3", lanes1<op_f32_ubyte<3>>, kF, kB),
    row("v_cvt_off_f32_i4", lanes1<op_off_f32_i4>, kF, kB),
    row("v_cvt_i32_f32", lanes1<op_i32_f32>, kB, kF),
    row("v_cvt_u32_f32", lanes1<op_u32_f32>, kB, kF),
    row("v_cvt_rpi_i32_f32", lanes1<op_rpi>, kB, kF),
    row("v_cvt_flr_i32_f32", lanes1<op_flr>, kB, kF),
    row("v_cvt_f32_f16", lanes1<op_f32_f16>, kF, kH),
    row("v_cvt_f16_f32", lanes1<op_f16_f32>, kH, kF),
    row("v_cvt_f32_bf16", lanes1<op_f32_bf16>, kF, Type::bf16),
    row("v_cvt_pk_bf16_f32", lanes2<op_pk_bf16>, kB, kF),
    row("v_cvt_pk_f16_f32", lanes2<op_pk_f16>, Type::pkf16, kF),
    row("v_cvt_pkrtz_f16_f32", lanes2<op_pkrtz>, Type::pkf16, kF),
    row("v_cvt_pknorm_i16_f32", lanes2<op_pknorm_i16>, kB, kF),
    row("v_cvt_pknorm_u16_f32", lanes2<op_pknorm_u16>, kB, kF),
    row("v_cvt_pknorm_i16_f16", lanes2<op_pknorm_i16_h>, kB, kH, kH),
    row("v_cvt_pknorm_u16_f16", lanes2<op_pknorm_u16_h>, kB, kH, kH),
    row("v_cvt_norm_i16_f16", lanes1<op_norm_i16_f16>, kB, kH),
    row("v_cvt_norm_u16_f16", lanes1<op_norm_u16_f16>, kB, kH),
    row("v_cvt_pk_u16_u32", lanes2<op_pk_u16_u32>, kB, kB, kB),
    row("v_cvt_pk_i16_i32", lanes2<op_pk_i16_i32>, kB, kB, kB),
    row("v_cvt_pk_u8_f32", lanes3<op_pk_u8_f32>, kB, kF, kB),
    row("v_cvt_pkaccum_u8_f32", pkaccum_u8, kB, kF, kB),
    row("v_cvt_f32_f64", from_f64<op_f32_f64>, kF, kD),
    row("v_cvt_i32_f64", from_f64<op_i32_f64>, kB, kD),
    row("v_cvt_u32_f64", from_f64<op_u32_f64>, kB, kD),
    row("v_cvt_f64_f32", to_f64<op_f64_f32>, kD, kF),
    row("v_cvt_f64_i32", to_f64<op_f64_i32>, kD, kB),
    row("v_cvt_f64_u32", to_f64<op_f64_u32>, kD, kB),
    row("v_cvt_f16_u16", lanes1<op_f16_u16>, kH, Type::b16),
    row("v_cvt_f16_i16", lanes1<op_f16_i16>, kH, Type::b16),
    row("v_cvt_u16_f16", lanes1<op_u16_f16>, kB, kH),
    row("v_cvt_i16_f16", lanes1<op_i16_f16>, kB, kH),
};

}  // namespace

OpTable vop_convert_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
