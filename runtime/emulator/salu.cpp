// Scalar arithmetic, logic, bit fields and compares.
#include <bit>

#include "runtime/emulator/fault.h"
#include "runtime/emulator/scalar_families.h"
#include "runtime/emulator/scalar_operands.h"

namespace baton::emulator {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

constexpr int32_t s(u32 x) { return static_cast<int32_t>(x); }
constexpr u32 u(int32_t x) { return static_cast<u32>(x); }
constexpr int64_t s64(u64 x) { return static_cast<int64_t>(x); }
constexpr int32_t simm(const Instruction& in) { return static_cast<int16_t>(in.imm); }

// -- results of 32 bits; `Op` may set SCC ---------------------------------------------------------

template <u32 (*Op)(u32, bool&)>
void one(Wave& w, const Instruction& in) {
  w.set_sgpr(in.dst.index, Op(read32(w, in.src[0]), w.scc));
}
template <u32 (*Op)(u64, bool&)>
void one_of_64(Wave& w, const Instruction& in) {
  w.set_sgpr(in.dst.index, Op(read64(w, in.src[0]), w.scc));
}
template <u64 (*Op)(u64, bool&)>
void one64(Wave& w, const Instruction& in) {
  w.set_sgpr64(in.dst.index, Op(read64(w, in.src[0]), w.scc));
}
template <u32 (*Op)(u32, u32, bool&)>
void two(Wave& w, const Instruction& in) {
  w.set_sgpr(in.dst.index, Op(read32(w, in.src[0]), read32(w, in.src[1]), w.scc));
}
template <u64 (*Op)(u64, u64, bool&)>
void two64(Wave& w, const Instruction& in) {
  w.set_sgpr64(in.dst.index, Op(read64(w, in.src[0]), read64(w, in.src[1]), w.scc));
}
/// The second source is a 32-bit shift count or field.
template <u64 (*Op)(u64, u32, bool&)>
void two64_32(Wave& w, const Instruction& in) {
  w.set_sgpr64(in.dst.index, Op(read64(w, in.src[0]), read32(w, in.src[1]), w.scc));
}
template <u32 (*Op)(u32, u32, bool&)>
void with_simm(Wave& w, const Instruction& in) {
  w.set_sgpr(in.dst.index, Op(w.sgpr[in.dst.index], u(simm(in)), w.scc));
}

u32 op_mov(u32 a, bool&) { return a; }
u64 op_mov64(u64 a, bool&) { return a; }
template <typename T>
T op_not(T a, bool& scc) {
  scc = static_cast<T>(~a) != 0;
  return ~a;
}
u32 op_abs(u32 a, bool& scc) {
  const u32 r = s(a) < 0 ? 0 - a : a;
  scc = r != 0;
  return r;
}
u32 op_sext8(u32 a, bool&) { return u(static_cast<int8_t>(a)); }
u32 op_sext16(u32 a, bool&) { return u(static_cast<int16_t>(a)); }
u32 op_brev(u32 a, bool&) { return __builtin_bitreverse32(a); }
u64 op_brev64(u64 a, bool&) { return __builtin_bitreverse64(a); }
template <typename T, bool ones>
u32 op_bcnt(T a, bool& scc) {
  const u32 n = u(std::popcount(ones ? a : static_cast<T>(~a)));
  scc = n != 0;
  return n;
}
template <typename T, bool ones>
u32 op_ff(T a, bool&) {
  const T x = ones ? a : static_cast<T>(~a);
  return x ? u(std::countr_zero(x)) : ~0u;
}
template <typename T>
u32 op_flbit(T a, bool&) {
  return a ? u(std::countl_zero(a)) : ~0u;
}
u32 op_flbit_i32(u32 a, bool& scc) { return op_flbit<u32>(s(a) < 0 ? ~a : a, scc); }
u32 op_flbit_i64(u64 a, bool& scc) { return op_flbit<u64>(s64(a) < 0 ? ~a : a, scc); }
template <typename T>
T op_wqm(T a, bool& scc) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; i += 4) {
    if ((a >> i) & 0xf) r |= T{0xf} << i;
  }
  scc = r != 0;
  return r;
}
template <typename T>
T op_quadmask(T a, bool& scc) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 2; ++i) {
    if ((a >> (4 * i)) & 0xf) r |= T{1} << i;
  }
  scc = r != 0;
  return r;
}
void bitreplicate(Wave& w, const Instruction& in) {
  const u32 a = read32(w, in.src[0]);
  u64 r = 0;
  for (int i = 0; i < 32; ++i) r |= ((a >> i) & 1) ? u64{3} << (2 * i) : 0;
  w.set_sgpr64(in.dst.index, r);
}

u32 op_add_u(u32 a, u32 b, bool& scc) {
  scc = a + b < a;
  return a + b;
}
u32 op_sub_u(u32 a, u32 b, bool& scc) {
  scc = a < b;
  return a - b;
}
u32 op_add_i(u32 a, u32 b, bool& scc) {
  int32_t r;
  scc = __builtin_add_overflow(s(a), s(b), &r);
  return u(r);
}
u32 op_sub_i(u32 a, u32 b, bool& scc) {
  int32_t r;
  scc = __builtin_sub_overflow(s(a), s(b), &r);
  return u(r);
}
u32 op_addc(u32 a, u32 b, bool& scc) {
  const u64 r = u64{a} + b + scc;
  scc = r >> 32;
  return static_cast<u32>(r);
}
u32 op_subb(u32 a, u32 b, bool& scc) {
  const u64 taken = u64{b} + scc;
  scc = a < taken;
  return a - static_cast<u32>(taken);
}
u32 op_min_i(u32 a, u32 b, bool& scc) { return (scc = s(a) < s(b)) ? a : b; }
u32 op_max_i(u32 a, u32 b, bool& scc) { return (scc = s(a) > s(b)) ? a : b; }
u32 op_min_u(u32 a, u32 b, bool& scc) { return (scc = a < b) ? a : b; }
u32 op_max_u(u32 a, u32 b, bool& scc) { return (scc = a > b) ? a : b; }
template <typename T>
T op_cselect(T a, T b, bool& scc) {
  return scc ? a : b;
}
template <typename T>
T op_and(T a, T b, bool& scc) {
  scc = (a & b) != 0;
  return a & b;
}
template <typename T>
T op_or(T a, T b, bool& scc) {
  scc = (a | b) != 0;
  return a | b;
}
template <typename T>
T op_xor(T a, T b, bool& scc) {
  scc = (a ^ b) != 0;
  return a ^ b;
}
template <typename T>
T op_andn2(T a, T b, bool& scc) {
  return op_and<T>(a, static_cast<T>(~b), scc);
}
template <typename T>
T op_orn2(T a, T b, bool& scc) {
  return op_or<T>(a, static_cast<T>(~b), scc);
}
template <typename T>
T op_nand(T a, T b, bool& scc) {
  return op_not<T>(a & b, scc);
}
template <typename T>
T op_nor(T a, T b, bool& scc) {
  return op_not<T>(a | b, scc);
}
template <typename T>
T op_xnor(T a, T b, bool& scc) {
  return op_not<T>(a ^ b, scc);
}
template <typename T>
T op_andn1(T a, T b, bool& scc) {
  return op_andn2<T>(b, a, scc);
}
template <typename T>
T op_orn1(T a, T b, bool& scc) {
  return op_orn2<T>(b, a, scc);
}
template <typename T>
T op_lshl(T a, u32 b, bool& scc) {
  const T r = a << (b & (sizeof(T) * 8 - 1));
  scc = r != 0;
  return r;
}
template <typename T>
T op_lshr(T a, u32 b, bool& scc) {
  const T r = a >> (b & (sizeof(T) * 8 - 1));
  scc = r != 0;
  return r;
}
u32 op_ashr(u32 a, u32 b, bool& scc) {
  const u32 r = u(s(a) >> (b & 31));
  scc = r != 0;
  return r;
}
u64 op_ashr64(u64 a, u32 b, bool& scc) {
  const u64 r = static_cast<u64>(s64(a) >> (b & 63));
  scc = r != 0;
  return r;
}
u32 op_bfm(u32 a, u32 b, bool&) { return ((1u << (a & 31)) - 1) << (b & 31); }
void bfm64(Wave& w, const Instruction& in) {
  const u32 a = read32(w, in.src[0]), b = read32(w, in.src[1]);
  w.set_sgpr64(in.dst.index, ((u64{1} << (a & 63)) - 1) << (b & 63));
}
u32 op_mul(u32 a, u32 b, bool&) { return a * b; }
u32 op_mul_hi_u(u32 a, u32 b, bool&) { return static_cast<u32>((u64{a} * b) >> 32); }
u32 op_mul_hi_i(u32 a, u32 b, bool&) {
  return static_cast<u32>(static_cast<u64>(int64_t{s(a)} * s(b)) >> 32);
}
u32 op_absdiff(u32 a, u32 b, bool& scc) {
  // Of the difference as it wraps: (0x80000000, 1) gives 0x7fffffff.
  const u32 r = s(a - b) < 0 ? b - a : a - b;
  scc = r != 0;
  return r;
}
template <int shift>
u32 op_lshl_add(u32 a, u32 b, bool& scc) {
  const u64 r = (u64{a} << shift) + b;
  scc = r >> 32;
  return static_cast<u32>(r);
}
u32 op_pack_ll(u32 a, u32 b, bool&) { return (a & 0xffff) | b << 16; }
u32 op_pack_lh(u32 a, u32 b, bool&) { return (a & 0xffff) | (b & 0xffff0000); }
u32 op_pack_hh(u32 a, u32 b, bool&) { return a >> 16 | (b & 0xffff0000); }

/// Bits [4:0] (or [5:0]) of the field are the offset, bits [22:16] the width.
template <typename T, bool is_signed>
T op_bfe(T a, u32 field, bool& scc) {
  constexpr u32 kBits = sizeof(T) * 8;
  const u32 offset = field & (kBits - 1), width = (field >> 16) & 0x7f;
  T r = a >> offset;
  if (is_signed) r = static_cast<T>(static_cast<std::make_signed_t<T>>(a) >> offset);
  if (width == 0) {
    r = 0;
  } else if (width < kBits) {
    r <<= kBits - width;
    r = is_signed ? static_cast<T>(static_cast<std::make_signed_t<T>>(r) >> (kBits - width))
                  : r >> (kBits - width);
  }
  scc = r != 0;
  return r;
}

template <bool (*Op)(u32, u32)>
void compare(Wave& w, const Instruction& in) {
  w.scc = Op(read32(w, in.src[0]), read32(w, in.src[1]));
}
template <bool (*Op)(u32, u32), bool is_signed>
void compare_simm(Wave& w, const Instruction& in) {
  w.scc = Op(read32(w, in.src[0]), is_signed ? u(simm(in)) : in.imm);
}
bool eq(u32 a, u32 b) { return a == b; }
bool lg(u32 a, u32 b) { return a != b; }
bool gt_i(u32 a, u32 b) { return s(a) > s(b); }
bool ge_i(u32 a, u32 b) { return s(a) >= s(b); }
bool lt_i(u32 a, u32 b) { return s(a) < s(b); }
bool le_i(u32 a, u32 b) { return s(a) <= s(b); }
bool gt_u(u32 a, u32 b) { return a > b; }
bool ge_u(u32 a, u32 b) { return a >= b; }
bool lt_u(u32 a, u32 b) { return a < b; }
bool le_u(u32 a, u32 b) { return a <= b; }
bool bit0(u32 a, u32 b) { return !((a >> (b & 31)) & 1); }
bool bit1(u32 a, u32 b) { return (a >> (b & 31)) & 1; }

template <bool equal>
void compare64(Wave& w, const Instruction& in) {
  w.scc = (read64(w, in.src[0]) == read64(w, in.src[1])) == equal;
}
template <bool value>
void bitcmp64(Wave& w, const Instruction& in) {
  w.scc = ((read64(w, in.src[0]) >> (read32(w, in.src[1]) & 63)) & 1) == value;
}

void cmov32(Wave& w, const Instruction& in) {
  if (w.scc) w.set_sgpr(in.dst.index, read32(w, in.src[0]));
}
void cmov64(Wave& w, const Instruction& in) {
  if (w.scc) w.set_sgpr64(in.dst.index, read64(w, in.src[0]));
}
void movk(Wave& w, const Instruction& in) { w.set_sgpr(in.dst.index, u(simm(in))); }
void cmovk(Wave& w, const Instruction& in) {
  if (w.scc) movk(w, in);
}
template <bool value>
void bitset32(Wave& w, const Instruction& in) {
  const u32 bit = 1u << (read32(w, in.src[0]) & 31);
  const u32 old = w.sgpr[in.dst.index];
  w.set_sgpr(in.dst.index, value ? old | bit : old & ~bit);
}
template <bool value>
void bitset64(Wave& w, const Instruction& in) {
  const u64 bit = u64{1} << (read32(w, in.src[0]) & 63);
  const u64 old = w.sgpr64(in.dst.index);
  w.set_sgpr64(in.dst.index, value ? old | bit : old & ~bit);
}
template <u64 (*Op)(u64, u64, bool&)>
void saveexec(Wave& w, const Instruction& in) {
  const u64 old = w.exec(), source = read64(w, in.src[0]);
  w.set_sgpr64(in.dst.index, old);
  w.set_sgpr64(kExec, Op(source, old, w.scc));
}
/// EXEC and the destination both get the new mask.
template <u64 (*Op)(u64, u64, bool&)>
void wrexec(Wave& w, const Instruction& in) {
  const u64 r = Op(read64(w, in.src[0]), w.exec(), w.scc);
  w.set_sgpr64(kExec, r);
  w.set_sgpr64(in.dst.index, r);
}

uint16_t relative(const Wave& w, const Instruction& in, u32 index, int words) {
  const u32 last = index + w.sgpr[kM0] + u(words) - 1;
  if (index + w.sgpr[kM0] < index || last >= kFlatScratch) {
    fault_unsupported(in, "M0 points past the SGPRs");
  }
  return static_cast<uint16_t>(index + w.sgpr[kM0]);
}
void movrels32(Wave& w, const Instruction& in) {
  w.set_sgpr(in.dst.index, w.sgpr[relative(w, in, in.src[0].index, 1)]);
}
void movrels64(Wave& w, const Instruction& in) {
  w.set_sgpr64(in.dst.index, w.sgpr64(relative(w, in, in.src[0].index, 2)));
}
void movreld32(Wave& w, const Instruction& in) {
  w.set_sgpr(relative(w, in, in.dst.index, 1), read32(w, in.src[0]));
}
void movreld64(Wave& w, const Instruction& in) {
  w.set_sgpr64(relative(w, in, in.dst.index, 2), read64(w, in.src[0]));
}

constexpr OpClass kS = OpClass::salu;
constexpr OpRow row(const char* name, Handler h) {
  return {name, h, kS, 1, Type::b32, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow row64(const char* name, Handler h) {
  return {name, h, kS, 1, Type::b64, {Type::b64, Type::b64, Type::b64}};
}
constexpr OpRow row64_32(const char* name, Handler h) {
  return {name, h, kS, 1, Type::b64, {Type::b64, Type::b32, Type::b32}};
}
constexpr OpRow row32_64(const char* name, Handler h) {
  return {name, h, kS, 1, Type::b32, {Type::b64, Type::b64, Type::b64}};
}
constexpr OpRow compare_row(const char* name, Handler h) {
  return {name, h, kS, 0, Type::none, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow compare_row64(const char* name, Handler h, Type second) {
  return {name, h, kS, 0, Type::none, {Type::b64, second, second}};
}

constexpr OpRow kRows[] = {
    row("s_mov_b32", one<op_mov>),
    row64("s_mov_b64", one64<op_mov64>),
    row("s_cmov_b32", cmov32),
    row64("s_cmov_b64", cmov64),
    row("s_not_b32", one<op_not<u32>>),
    row64("s_not_b64", one64<op_not<u64>>),
    row("s_wqm_b32", one<op_wqm<u32>>),
    row64("s_wqm_b64", one64<op_wqm<u64>>),
    row("s_quadmask_b32", one<op_quadmask<u32>>),
    row64("s_quadmask_b64", one64<op_quadmask<u64>>),
    row("s_brev_b32", one<op_brev>),
    row64("s_brev_b64", one64<op_brev64>),
    row("s_bcnt0_i32_b32", one<op_bcnt<u32, false>>),
    row32_64("s_bcnt0_i32_b64", one_of_64<op_bcnt<u64, false>>),
    row("s_bcnt1_i32_b32", one<op_bcnt<u32, true>>),
    row32_64("s_bcnt1_i32_b64", one_of_64<op_bcnt<u64, true>>),
    row("s_ff0_i32_b32", one<op_ff<u32, false>>),
    row32_64("s_ff0_i32_b64", one_of_64<op_ff<u64, false>>),
    row("s_ff1_i32_b32", one<op_ff<u32, true>>),
    row32_64("s_ff1_i32_b64", one_of_64<op_ff<u64, true>>),
    row("s_flbit_i32_b32", one<op_flbit<u32>>),
    row32_64("s_flbit_i32_b64", one_of_64<op_flbit<u64>>),
    row("s_flbit_i32", one<op_flbit_i32>),
    row32_64("s_flbit_i32_i64", one_of_64<op_flbit_i64>),
    row("s_sext_i32_i8", one<op_sext8>),
    row("s_sext_i32_i16", one<op_sext16>),
    row("s_abs_i32", one<op_abs>),
    row("s_bitset0_b32", bitset32<false>),
    row("s_bitset1_b32", bitset32<true>),
    {"s_bitset0_b64", bitset64<false>, kS, 1, Type::b64, {Type::b32, Type::b32, Type::b32}},
    {"s_bitset1_b64", bitset64<true>, kS, 1, Type::b64, {Type::b32, Type::b32, Type::b32}},
    {"s_bitreplicate_b64_b32", bitreplicate, kS, 1, Type::b64, {Type::b32, Type::b32, Type::b32}},
    row64("s_and_saveexec_b64", saveexec<op_and<u64>>),
    row64("s_or_saveexec_b64", saveexec<op_or<u64>>),
    row64("s_xor_saveexec_b64", saveexec<op_xor<u64>>),
    row64("s_andn2_saveexec_b64", saveexec<op_andn2<u64>>),
    row64("s_orn2_saveexec_b64", saveexec<op_orn2<u64>>),
    row64("s_nand_saveexec_b64", saveexec<op_nand<u64>>),
    row64("s_nor_saveexec_b64", saveexec<op_nor<u64>>),
    row64("s_xnor_saveexec_b64", saveexec<op_xnor<u64>>),
    row64("s_andn1_saveexec_b64", saveexec<op_andn1<u64>>),
    row64("s_orn1_saveexec_b64", saveexec<op_orn1<u64>>),
    row64("s_andn1_wrexec_b64", wrexec<op_andn1<u64>>),
    row64("s_andn2_wrexec_b64", wrexec<op_andn2<u64>>),
    row("s_movrels_b32", movrels32),
    row64("s_movrels_b64", movrels64),
    row("s_movreld_b32", movreld32),
    row64("s_movreld_b64", movreld64),
    row("s_add_u32", two<op_add_u>),
    row("s_sub_u32", two<op_sub_u>),
    row("s_add_i32", two<op_add_i>),
    row("s_sub_i32", two<op_sub_i>),
    row("s_addc_u32", two<op_addc>),
    row("s_subb_u32", two<op_subb>),
    row("s_min_i32", two<op_min_i>),
    row("s_min_u32", two<op_min_u>),
    row("s_max_i32", two<op_max_i>),
    row("s_max_u32", two<op_max_u>),
    row("s_cselect_b32", two<op_cselect<u32>>),
    row64("s_cselect_b64", two64<op_cselect<u64>>),
    row("s_and_b32", two<op_and<u32>>),
    row64("s_and_b64", two64<op_and<u64>>),
    row("s_or_b32", two<op_or<u32>>),
    row64("s_or_b64", two64<op_or<u64>>),
    row("s_xor_b32", two<op_xor<u32>>),
    row64("s_xor_b64", two64<op_xor<u64>>),
    row("s_andn2_b32", two<op_andn2<u32>>),
    row64("s_andn2_b64", two64<op_andn2<u64>>),
    row("s_orn2_b32", two<op_orn2<u32>>),
    row64("s_orn2_b64", two64<op_orn2<u64>>),
    row("s_nand_b32", two<op_nand<u32>>),
    row64("s_nand_b64", two64<op_nand<u64>>),
    row("s_nor_b32", two<op_nor<u32>>),
    row64("s_nor_b64", two64<op_nor<u64>>),
    row("s_xnor_b32", two<op_xnor<u32>>),
    row64("s_xnor_b64", two64<op_xnor<u64>>),
    row("s_lshl_b32", two<op_lshl<u32>>),
    row64_32("s_lshl_b64", two64_32<op_lshl<u64>>),
    row("s_lshr_b32", two<op_lshr<u32>>),
    row64_32("s_lshr_b64", two64_32<op_lshr<u64>>),
    row("s_ashr_i32", two<op_ashr>),
    row64_32("s_ashr_i64", two64_32<op_ashr64>),
    row("s_bfm_b32", two<op_bfm>),
    {"s_bfm_b64", bfm64, kS, 1, Type::b64, {Type::b32, Type::b32, Type::b32}},
    row("s_mul_i32", two<op_mul>),
    row("s_mul_hi_u32", two<op_mul_hi_u>),
    row("s_mul_hi_i32", two<op_mul_hi_i>),
    row("s_bfe_u32", two<op_bfe<u32, false>>),
    row("s_bfe_i32", two<op_bfe<u32, true>>),
    row64_32("s_bfe_u64", two64_32<op_bfe<u64, false>>),
    row64_32("s_bfe_i64", two64_32<op_bfe<u64, true>>),
    row("s_absdiff_i32", two<op_absdiff>),
    row("s_lshl1_add_u32", two<op_lshl_add<1>>),
    row("s_lshl2_add_u32", two<op_lshl_add<2>>),
    row("s_lshl3_add_u32", two<op_lshl_add<3>>),
    row("s_lshl4_add_u32", two<op_lshl_add<4>>),
    row("s_pack_ll_b32_b16", two<op_pack_ll>),
    row("s_pack_lh_b32_b16", two<op_pack_lh>),
    row("s_pack_hh_b32_b16", two<op_pack_hh>),
    row("s_movk_i32", movk),
    row("s_cmovk_i32", cmovk),
    row("s_addk_i32", with_simm<op_add_i>),
    row("s_mulk_i32", with_simm<op_mul>),
    compare_row("s_cmp_eq_i32", compare<eq>),
    compare_row("s_cmp_lg_i32", compare<lg>),
    compare_row("s_cmp_gt_i32", compare<gt_i>),
    compare_row("s_cmp_ge_i32", compare<ge_i>),
    compare_row("s_cmp_lt_i32", compare<lt_i>),
    compare_row("s_cmp_le_i32", compare<le_i>),
    compare_row("s_cmp_eq_u32", compare<eq>),
    compare_row("s_cmp_lg_u32", compare<lg>),
    compare_row("s_cmp_gt_u32", compare<gt_u>),
    compare_row("s_cmp_ge_u32", compare<ge_u>),
    compare_row("s_cmp_lt_u32", compare<lt_u>),
    compare_row("s_cmp_le_u32", compare<le_u>),
    compare_row("s_bitcmp0_b32", compare<bit0>),
    compare_row("s_bitcmp1_b32", compare<bit1>),
    compare_row64("s_bitcmp0_b64", bitcmp64<false>, Type::b32),
    compare_row64("s_bitcmp1_b64", bitcmp64<true>, Type::b32),
    compare_row64("s_cmp_eq_u64", compare64<true>, Type::b64),
    compare_row64("s_cmp_lg_u64", compare64<false>, Type::b64),
    compare_row("s_cmpk_eq_i32", compare_simm<eq, true>),
    compare_row("s_cmpk_lg_i32", compare_simm<lg, true>),
    compare_row("s_cmpk_gt_i32", compare_simm<gt_i, true>),
    compare_row("s_cmpk_ge_i32", compare_simm<ge_i, true>),
    compare_row("s_cmpk_lt_i32", compare_simm<lt_i, true>),
    compare_row("s_cmpk_le_i32", compare_simm<le_i, true>),
    compare_row("s_cmpk_eq_u32", compare_simm<eq, false>),
    compare_row("s_cmpk_lg_u32", compare_simm<lg, false>),
    compare_row("s_cmpk_gt_u32", compare_simm<gt_u, false>),
    compare_row("s_cmpk_ge_u32", compare_simm<ge_u, false>),
    compare_row("s_cmpk_lt_u32", compare_simm<lt_u, false>),
    compare_row("s_cmpk_le_u32", compare_simm<le_u, false>),
};

}  // namespace

OpTable salu_rows() { return {kRows, std::size(kRows)}; }

}  // namespace baton::emulator
