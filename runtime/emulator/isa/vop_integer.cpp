// 32-bit integer vector instructions: moves, logic, shifts, arithmetic, bit fields.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;
using i32 = int32_t;

BATON_INLINE i32 s(u32 x) { return static_cast<i32>(x); }
BATON_INLINE u32 u(i32 x) { return static_cast<u32>(x); }
BATON_INLINE i32 sext24(u32 x) { return s(x << 8) >> 8; }
BATON_INLINE u32 byte(u32 x, u32 i) { return (x >> (8 * i)) & 0xff; }

u32 op_mov(u32 a) { return a; }
u32 op_not(u32 a) { return ~a; }
u32 op_bfrev(u32 a) {
  a = ((a >> 1) & 0x55555555) | ((a & 0x55555555) << 1);
  a = ((a >> 2) & 0x33333333) | ((a & 0x33333333) << 2);
  a = ((a >> 4) & 0x0f0f0f0f) | ((a & 0x0f0f0f0f) << 4);
  a = ((a >> 8) & 0x00ff00ff) | ((a & 0x00ff00ff) << 8);
  return (a >> 16) | (a << 16);
}
u32 op_ffbh_u(u32 a) { return a ? static_cast<u32>(__builtin_clz(a)) : ~0u; }
u32 op_ffbl(u32 a) { return a ? static_cast<u32>(__builtin_ctz(a)) : ~0u; }
u32 op_ffbh_i(u32 a) { return op_ffbh_u(s(a) < 0 ? ~a : a); }
u32 op_sat_pk_u8_i16(u32 a) {
  const i32 lo = static_cast<int16_t>(a), hi = static_cast<int16_t>(a >> 16);
  const u32 l = lo < 0 ? 0 : lo > 255 ? 255 : u(lo), h = hi < 0 ? 0 : hi > 255 ? 255 : u(hi);
  return l | h << 8;
}

u32 op_and(u32 a, u32 b) { return a & b; }
u32 op_or(u32 a, u32 b) { return a | b; }
u32 op_xor(u32 a, u32 b) { return a ^ b; }
u32 op_xnor(u32 a, u32 b) { return ~(a ^ b); }
u32 op_lshlrev(u32 a, u32 b) { return b << (a & 31); }
u32 op_lshrrev(u32 a, u32 b) { return b >> (a & 31); }
u32 op_ashrrev(u32 a, u32 b) { return u(s(b) >> (a & 31)); }
u32 op_add(u32 a, u32 b) { return a + b; }
u32 op_sub(u32 a, u32 b) { return a - b; }
u32 op_subrev(u32 a, u32 b) { return b - a; }
u32 op_add_sat_u(u32 a, u32 b) { return a + b < a ? ~0u : a + b; }
u32 op_sub_sat_u(u32 a, u32 b) { return a < b ? 0 : a - b; }
u32 op_subrev_sat_u(u32 a, u32 b) { return op_sub_sat_u(b, a); }
u32 op_add_sat_i(u32 a, u32 b) {
  const u32 r = a + b;
  return s(~(a ^ b) & (a ^ r)) < 0 ? (s(a) < 0 ? 0x80000000 : 0x7fffffff) : r;
}
u32 op_sub_sat_i(u32 a, u32 b) {
  const u32 r = a - b;
  return s((a ^ b) & (a ^ r)) < 0 ? (s(a) < 0 ? 0x80000000 : 0x7fffffff) : r;
}
u32 op_mul_i24(u32 a, u32 b) { return u(sext24(a)) * u(sext24(b)); }
u32 op_mul_hi_i24(u32 a, u32 b) {
  return static_cast<u32>(static_cast<uint64_t>(int64_t{sext24(a)} * sext24(b)) >> 32);
}
u32 op_mul_u24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
u32 op_mul_hi_u24(u32 a, u32 b) {
  return static_cast<u32>((uint64_t{a & 0xffffff} * (b & 0xffffff)) >> 32);
}
u32 op_mul_lo(u32 a, u32 b) { return a * b; }
u32 op_mul_hi_u(u32 a, u32 b) { return static_cast<u32>((uint64_t{a} * b) >> 32); }
u32 op_mul_hi_i(u32 a, u32 b) {
  return static_cast<u32>(static_cast<uint64_t>(int64_t{s(a)} * s(b)) >> 32);
}
u32 op_min_i(u32 a, u32 b) { return s(a) < s(b) ? a : b; }
u32 op_max_i(u32 a, u32 b) { return s(a) > s(b) ? a : b; }
u32 op_min_u(u32 a, u32 b) { return a < b ? a : b; }
u32 op_max_u(u32 a, u32 b) { return a > b ? a : b; }
u32 op_bfm(u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }
u32 op_bcnt(u32 a, u32 b) { return static_cast<u32>(__builtin_popcount(a)) + b; }

u32 op_mad_i24(u32 a, u32 b, u32 c) { return op_mul_i24(a, b) + c; }
u32 op_mad_u24(u32 a, u32 b, u32 c) { return op_mul_u24(a, b) + c; }
u32 op_bfe_u(u32 a, u32 b, u32 c) { return (a >> (b & 31)) & ((1u << (c & 31)) - 1); }
u32 op_bfe_i(u32 a, u32 b, u32 c) {
  const u32 width = c & 31;
  // The shift is of a signed number: a field that reaches past the end ends in copies of the sign.
  const u32 field = static_cast<u32>(static_cast<int32_t>(a) >> (b & 31)) & ((1u << width) - 1);
  const u32 sign = width ? 1u << (width - 1) : 0;
  return (field ^ sign) - sign;
}
u32 op_bfi(u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }
u32 op_alignbit(u32 a, u32 b, u32 c) { return static_cast<u32>(join(b, a) >> (c & 31)); }
u32 op_alignbyte(u32 a, u32 b, u32 c) { return static_cast<u32>(join(b, a) >> (8 * (c & 3))); }
u32 op_min3_i(u32 a, u32 b, u32 c) { return op_min_i(op_min_i(a, b), c); }
u32 op_max3_i(u32 a, u32 b, u32 c) { return op_max_i(op_max_i(a, b), c); }
u32 op_min3_u(u32 a, u32 b, u32 c) { return op_min_u(op_min_u(a, b), c); }
u32 op_max3_u(u32 a, u32 b, u32 c) { return op_max_u(op_max_u(a, b), c); }
u32 op_med3_i(u32 a, u32 b, u32 c) { return op_max_i(op_min_i(a, b), op_min_i(op_max_i(a, b), c)); }
u32 op_med3_u(u32 a, u32 b, u32 c) { return op_max_u(op_min_u(a, b), op_min_u(op_max_u(a, b), c)); }
u32 op_lshl_add(u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }
u32 op_add_lshl(u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }
u32 op_add3(u32 a, u32 b, u32 c) { return a + b + c; }
u32 op_lshl_or(u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }
u32 op_and_or(u32 a, u32 b, u32 c) { return (a & b) | c; }
u32 op_or3(u32 a, u32 b, u32 c) { return a | b | c; }
u32 op_xad(u32 a, u32 b, u32 c) { return (a ^ b) + c; }
u32 op_lerp_u8(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (u32 i = 0; i < 4; ++i) {
    r |= ((byte(a, i) + byte(b, i) + (byte(c, i) & 1)) >> 1) << (8 * i);
  }
  return r;
}
BATON_INLINE u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }
u32 op_sad_u8(u32 a, u32 b, u32 c) {
  for (u32 i = 0; i < 4; ++i) c += distance(byte(a, i), byte(b, i));
  return c;
}
u32 op_sad_hi_u8(u32 a, u32 b, u32 c) { return (op_sad_u8(a, b, 0) << 16) + c; }
u32 op_msad_u8(u32 a, u32 b, u32 c) {
  for (u32 i = 0; i < 4; ++i) c += byte(b, i) ? distance(byte(a, i), byte(b, i)) : 0;
  return c;
}
u32 op_sad_u16(u32 a, u32 b, u32 c) {
  return c + distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16);
}
u32 op_sad_u32(u32 a, u32 b, u32 c) { return c + distance(a, b); }
u32 op_perm(u32 a, u32 b, u32 c) {
  const uint64_t data = join(b, a);
  u32 r = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 sel = byte(c, i);
    u32 v;
    if (sel < 8) {
      v = static_cast<u32>(data >> (8 * sel)) & 0xff;
    } else if (sel < 12) {
      v = (data >> (16 * (sel - 8) + 15)) & 1 ? 0xff : 0;
    } else {
      v = sel == 12 ? 0 : 0xff;
    }
    r |= v << (8 * i);
  }
  return r;
}
u32 op_ashr_pk_i8(u32 a, u32 b, u32 c) {
  const auto sat = [](i32 x) { return u(x < -128 ? -128 : x > 127 ? 127 : x) & 0xff; };
  return sat(s(a) >> (c & 31)) | sat(s(b) >> (c & 31)) << 8;
}
u32 op_ashr_pk_u8(u32 a, u32 b, u32 c) {
  const auto sat = [](i32 x) { return u(x < 0 ? 0 : x > 255 ? 255 : x); };
  return sat(s(a) >> (c & 31)) | sat(s(b) >> (c & 31)) << 8;
}
u32 op_prng(u32 a) { return (a << 1) ^ ((a >> 31) ? 0xc5u : 0u); }

void bitop3(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const u32* c = fetch(w, in, 2, s2);
  u32 table[8];
  for (u32 i = 0; i < 8; ++i) table[i] = 0u - ((in.imm >> i) & 1);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const u32 c1 = c[i], c0 = ~c1, b1 = b[i], b0 = ~b1, a1 = a[i], a0 = ~a1;
    r.v[i] = (a0 & ((b0 & ((c0 & table[0]) | (c1 & table[1]))) |
                    (b1 & ((c0 & table[2]) | (c1 & table[3]))))) |
             (a1 & ((b0 & ((c0 & table[4]) | (c1 & table[5]))) |
                    (b1 & ((c0 & table[6]) | (c1 & table[7])))));
  }
  write(w, in, r.v);
}

void swap(Wave& w, const Instruction& in) {
  u32* a = w.row(in.dst);
  u32* b = w.row(in.src[0]);
  const u32* mask = exec_lanes(w);
  for (int i = 0; i < kLanes; ++i) {
    const u32 change = (a[i] ^ b[i]) & mask[i];
    a[i] ^= change;
    b[i] ^= change;
  }
}

void cndmask(Wave& w, const Instruction& in) {
  Lanes s0, s1, bit, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  unpack_mask(scalar64(w, in.src[2]), bit.v);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) r.v[i] = bit.v[i] ? b[i] : a[i];
  write(w, in, r.v);
}

/// Inactive lanes' bits of a mask result are zero.
BATON_INLINE void write_carry(Wave& w, const Instruction& in, const u32* carry) {
  w.set_sgpr64(in.sdst.index, pack_mask(carry) & write_mask(w, in));
}

enum class Carry { add, sub, subrev };

template <Carry kind, bool with_carry>
void carry_op(Wave& w, const Instruction& in) {
  Lanes s0, s1, cin, r, out;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  if (with_carry) {
    unpack_mask(scalar64(w, in.src[2]), cin.v);
  } else {
    for (int i = 0; i < kLanes; ++i) cin.v[i] = 0;
  }
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = kind == Carry::subrev ? b[i] : a[i], y = kind == Carry::subrev ? a[i] : b[i];
    const u32 c = cin.v[i];
    const u32 first = kind == Carry::add ? x + y : x - y;
    r.v[i] = kind == Carry::add ? first + c : first - c;
    const u32 over =
        kind == Carry::add ? u32{first < x} | u32{r.v[i] < first} : u32{x < y} | u32{first < c};
    out.v[i] = over;
  }
  write(w, in, r.v);
  write_carry(w, in, out.v);
}

template <bool is_signed>
void mad_64_32(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2[2], out;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  const Pair c = fetch64(w, in, 2, s2);
  write64(w, in, [&](int i) {
    const uint64_t addend = join(c.lo[i], c.hi[i]);
    const uint64_t product =
        is_signed ? static_cast<uint64_t>(int64_t{s(a[i])} * s(b[i])) : uint64_t{a[i]} * b[i];
    const uint64_t r = product + addend;
    int64_t sum;
    const bool overflow =
        __builtin_add_overflow(static_cast<int64_t>(product), static_cast<int64_t>(addend), &sum);
    out.v[i] = is_signed ? overflow : r < addend;
    return r;
  });
  write_carry(w, in, out.v);
}

template <uint64_t (*Op)(u32, uint64_t)>
void shift64(Wave& w, const Instruction& in) {
  Lanes s0, s1[2];
  const u32* a = fetch(w, in, 0, s0);
  const Pair b = fetch64(w, in, 1, s1);
  write64(w, in, [&](int i) { return Op(a[i] & 63, join(b.lo[i], b.hi[i])); });
}
uint64_t op_lshl64(u32 n, uint64_t x) { return x << n; }
uint64_t op_lshr64(u32 n, uint64_t x) { return x >> n; }
uint64_t op_ashr64(u32 n, uint64_t x) {
  return static_cast<uint64_t>(static_cast<int64_t>(x) >> n);
}

void lshl_add_u64(Wave& w, const Instruction& in) {
  Lanes s0[2], s1, s2[2];
  const Pair a = fetch64(w, in, 0, s0);
  const u32* n = fetch(w, in, 1, s1);
  const Pair c = fetch64(w, in, 2, s2);
  write64(w, in,
          [&](int i) { return (join(a.lo[i], a.hi[i]) << (n[i] & 7)) + join(c.lo[i], c.hi[i]); });
}

void mov_b64(Wave& w, const Instruction& in) {
  Lanes s0[2];
  const Pair a = fetch64(w, in, 0, s0);
  write64(w, in, [&](int i) { return join(a.lo[i], a.hi[i]); });
}

template <int half>
void mbcnt(Wave& w, const Instruction& in) {
  Lanes s0, s1, r;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t below = (uint64_t{1} << i) - 1;
    const u32 mask = static_cast<u32>(below >> (32 * half));
    r.v[i] = static_cast<u32>(__builtin_popcount(a[i] & mask)) + b[i];
  }
  write(w, in, r.v);
}

void nop(Wave&, const Instruction&) {}

constexpr OpClass kV = OpClass::valu;
constexpr Type kB = Type::b32;

constexpr OpRow row1(const char* name, Handler h) { return {name, h, kV, 1, kB, {kB, kB, kB}}; }
constexpr OpRow clamped(const char* name, Handler h, Handler c) {
  return {name, h, kV, 1, kB, {kB, kB, kB}, false, false, c};
}
constexpr OpRow carry_row(const char* name, Handler h) {
  return {name, h, kV, 2, kB, {kB, kB, Type::b64}};
}

constexpr OpRow kRows[] = {
    {"v_nop", nop, kV, 0, Type::none, {}},
    row1("v_mov_b32", lanes1<op_mov>),
    row1("v_accvgpr_read_b32", lanes1<op_mov>),
    row1("v_accvgpr_write_b32", lanes1<op_mov>),
    row1("v_accvgpr_mov_b32", lanes1<op_mov>),
    row1("v_not_b32", lanes1<op_not>),
    row1("v_bfrev_b32", lanes1<op_bfrev>),
    row1("v_ffbh_u32", lanes1<op_ffbh_u>),
    row1("v_ffbl_b32", lanes1<op_ffbl>),
    row1("v_ffbh_i32", lanes1<op_ffbh_i>),
    row1("v_sat_pk_u8_i16", lanes1<op_sat_pk_u8_i16>),
    row1("v_prng_b32", lanes1<op_prng>),
    row1("v_and_b32", lanes2<op_and>),
    row1("v_or_b32", lanes2<op_or>),
    row1("v_xor_b32", lanes2<op_xor>),
    row1("v_xnor_b32", lanes2<op_xnor>),
    row1("v_lshlrev_b32", lanes2<op_lshlrev>),
    row1("v_lshrrev_b32", lanes2<op_lshrrev>),
    row1("v_ashrrev_i32", lanes2<op_ashrrev>),
    clamped("v_add_u32", lanes2<op_add>, lanes2<op_add_sat_u>),
    clamped("v_sub_u32", lanes2<op_sub>, lanes2<op_sub_sat_u>),
    clamped("v_subrev_u32", lanes2<op_subrev>, lanes2<op_subrev_sat_u>),
    clamped("v_add_i32", lanes2<op_add>, lanes2<op_add_sat_i>),
    clamped("v_sub_i32", lanes2<op_sub>, lanes2<op_sub_sat_i>),
    row1("v_mul_i32_i24", lanes2<op_mul_i24>),
    row1("v_mul_hi_i32_i24", lanes2<op_mul_hi_i24>),
    row1("v_mul_u32_u24", lanes2<op_mul_u24>),
    row1("v_mul_hi_u32_u24", lanes2<op_mul_hi_u24>),
    row1("v_mul_lo_u32", lanes2<op_mul_lo>),
    row1("v_mul_hi_u32", lanes2<op_mul_hi_u>),
    row1("v_mul_hi_i32", lanes2<op_mul_hi_i>),
    row1("v_min_i32", lanes2<op_min_i>),
    row1("v_max_i32", lanes2<op_max_i>),
    row1("v_min_u32", lanes2<op_min_u>),
    row1("v_max_u32", lanes2<op_max_u>),
    row1("v_bfm_b32", lanes2<op_bfm>),
    row1("v_bcnt_u32_b32", lanes2<op_bcnt>),
    row1("v_mbcnt_lo_u32_b32", mbcnt<0>),
    row1("v_mbcnt_hi_u32_b32", mbcnt<1>),
    row1("v_mad_i32_i24", lanes3<op_mad_i24>),
    row1("v_mad_u32_u24", lanes3<op_mad_u24>),
    row1("v_bfe_u32", lanes3<op_bfe_u>),
    row1("v_bfe_i32", lanes3<op_bfe_i>),
    row1("v_bfi_b32", lanes3<op_bfi>),
    row1("v_alignbit_b32", lanes3<op_alignbit>),
    row1("v_alignbyte_b32", lanes3<op_alignbyte>),
    row1("v_min3_i32", lanes3<op_min3_i>),
    row1("v_max3_i32", lanes3<op_max3_i>),
    row1("v_med3_i32", lanes3<op_med3_i>),
    row1("v_min3_u32", lanes3<op_min3_u>),
    row1("v_max3_u32", lanes3<op_max3_u>),
    row1("v_med3_u32", lanes3<op_med3_u>),
    row1("v_lshl_add_u32", lanes3<op_lshl_add>),
    row1("v_add_lshl_u32", lanes3<op_add_lshl>),
    row1("v_add3_u32", lanes3<op_add3>),
    row1("v_lshl_or_b32", lanes3<op_lshl_or>),
    row1("v_and_or_b32", lanes3<op_and_or>),
    row1("v_or3_b32", lanes3<op_or3>),
    row1("v_xad_u32", lanes3<op_xad>),
    row1("v_lerp_u8", lanes3<op_lerp_u8>),
    row1("v_sad_u8", lanes3<op_sad_u8>),
    row1("v_sad_hi_u8", lanes3<op_sad_hi_u8>),
    row1("v_msad_u8", lanes3<op_msad_u8>),
    row1("v_sad_u16", lanes3<op_sad_u16>),
    row1("v_sad_u32", lanes3<op_sad_u32>),
    row1("v_perm_b32", lanes3<op_perm>),
    row1("v_ashr_pk_i8_i32", lanes3<op_ashr_pk_i8>),
    row1("v_ashr_pk_u8_i32", lanes3<op_ashr_pk_u8>),
    {"v_bitop3_b32", bitop3, kV, 1, kB, {kB, kB, kB}, false, true},
    row1("v_swap_b32", swap),
    {"v_cndmask_b32", cndmask, kV, 1, kB, {Type::f32, Type::f32, Type::b64}},
    carry_row("v_add_co_u32", carry_op<Carry::add, false>),
    carry_row("v_sub_co_u32", carry_op<Carry::sub, false>),
    carry_row("v_subrev_co_u32", carry_op<Carry::subrev, false>),
    carry_row("v_addc_co_u32", carry_op<Carry::add, true>),
    carry_row("v_subb_co_u32", carry_op<Carry::sub, true>),
    carry_row("v_subbrev_co_u32", carry_op<Carry::subrev, true>),
    {"v_mad_u64_u32", mad_64_32<false>, kV, 2, Type::b64, {kB, kB, Type::b64}},
    {"v_mad_i64_i32", mad_64_32<true>, kV, 2, Type::b64, {kB, kB, Type::i64}},
    {"v_lshlrev_b64", shift64<op_lshl64>, kV, 1, Type::b64, {kB, Type::b64, Type::b64}},
    {"v_lshrrev_b64", shift64<op_lshr64>, kV, 1, Type::b64, {kB, Type::b64, Type::b64}},
    {"v_ashrrev_i64", shift64<op_ashr64>, kV, 1, Type::i64, {kB, Type::i64, Type::i64}},
    {"v_lshl_add_u64", lshl_add_u64, kV, 1, Type::b64, {Type::b64, kB, Type::b64}},
    {"v_mov_b64", mov_b64, kV, 1, Type::b64, {Type::b64, Type::b64, Type::b64}},
};

}  // namespace

OpTable vop_integer_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
