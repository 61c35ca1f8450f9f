// 32-bit integer instructions against plain C++, one table entry an instruction, on random and on
// extreme operands. What C code compiles to is compared in test_against_clang.cpp.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <map>

#include "tests/runtime/emulator/instruction_harness.h"

namespace baton::tests {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

i32 s(u32 x) { return static_cast<i32>(x); }
u32 u(i64 x) { return static_cast<u32>(x); }
i32 low24(u32 x) { return s(x << 8) >> 8; }
u32 byte(u32 x, int i) { return x >> (8 * i) & 0xff; }
u32 half(u32 x, int i) { return x >> (16 * i) & 0xffff; }
u32 distance(u32 x, u32 y) { return x > y ? x - y : y - x; }
u32 ones(u32 n) { return u((i64{1} << n) - 1); }
u32 leading(u32 x) { return x ? u(std::countl_zero(x)) : ~0u; }
u32 trailing(u32 x) { return x ? u(std::countr_zero(x)) : ~0u; }
/// Bits below the sign that equal it, or -1 when all do.
u32 leading_signs(u32 x) { return x == 0 || x == ~0u ? ~0u : leading(s(x) < 0 ? ~x : x); }
u32 reversed(u32 x) {
  u32 r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1) << (31 - i);
  return r;
}
u32 sad_u8(u32 a, u32 b) {
  u32 sum = 0;
  for (int i = 0; i < 4; ++i) sum += distance(byte(a, i), byte(b, i));
  return sum;
}
u32 msad_u8(u32 a, u32 b) {
  u32 sum = 0;
  for (int i = 0; i < 4; ++i) sum += byte(b, i) ? distance(byte(a, i), byte(b, i)) : 0;
  return sum;
}
u32 lerp_u8(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (int i = 0; i < 4; ++i) r |= (byte(a, i) + byte(b, i) + (byte(c, i) & 1)) / 2 << (8 * i);
  return r;
}
/// Selectors 8 to 11 copy a sign, 12 is zero, above is 0xff; b holds bytes 0 to 3.
u32 perm(u32 a, u32 b, u32 c) {
  const u64 bytes = u64{a} << 32 | b;
  u32 r = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 which = byte(c, i);
    u32 v = which < 8 ? u(static_cast<i64>(bytes >> (8 * which) & 0xff)) : 0xff;
    if (which >= 8 && which < 12) v = bytes >> (16 * (which - 8) + 15) & 1 ? 0xff : 0;
    if (which == 12) v = 0;
    r |= v << (8 * i);
  }
  return r;
}
u32 field(u32 x, u32 offset, u32 width) { return x >> offset & ones(width); }
u32 signed_field(u32 x, u32 offset, u32 width) {
  if (width == 0) return 0;
  const u32 v = field(x, offset, width);
  return offset + width >= 32 ? u(s(x) >> offset) : u(s(v << (32 - width)) >> (32 - width));
}
template <typename T>
T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

using Function = u32 (*)(u32, u32, u32);
const std::map<std::string, Function> kVector = {
    {"v_not_b32", [](u32 a, u32, u32) { return ~a; }},
    {"v_bfrev_b32", [](u32 a, u32, u32) { return reversed(a); }},
    {"v_ffbh_u32", [](u32 a, u32, u32) { return leading(a); }},
    {"v_ffbl_b32", [](u32 a, u32, u32) { return trailing(a); }},
    {"v_ffbh_i32", [](u32 a, u32, u32) { return leading_signs(a); }},
    {"v_add_u32", [](u32 a, u32 b, u32) { return a + b; }},
    {"v_sub_u32", [](u32 a, u32 b, u32) { return a - b; }},
    {"v_subrev_u32", [](u32 a, u32 b, u32) { return b - a; }},
    {"v_and_b32", [](u32 a, u32 b, u32) { return a & b; }},
    {"v_or_b32", [](u32 a, u32 b, u32) { return a | b; }},
    {"v_xor_b32", [](u32 a, u32 b, u32) { return a ^ b; }},
    {"v_xnor_b32", [](u32 a, u32 b, u32) { return ~(a ^ b); }},
    {"v_lshlrev_b32", [](u32 a, u32 b, u32) { return b << (a & 31); }},
    {"v_lshrrev_b32", [](u32 a, u32 b, u32) { return b >> (a & 31); }},
    {"v_ashrrev_i32", [](u32 a, u32 b, u32) { return u(s(b) >> (a & 31)); }},
    {"v_min_i32", [](u32 a, u32 b, u32) { return u(std::min(s(a), s(b))); }},
    {"v_max_i32", [](u32 a, u32 b, u32) { return u(std::max(s(a), s(b))); }},
    {"v_min_u32", [](u32 a, u32 b, u32) { return std::min(a, b); }},
    {"v_max_u32", [](u32 a, u32 b, u32) { return std::max(a, b); }},
    {"v_mul_u32_u24", [](u32 a, u32 b, u32) { return (a & 0xffffff) * (b & 0xffffff); }},
    {"v_mul_hi_u32_u24",
     [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a & 0xffffff} * (b & 0xffffff) >> 32); }},
    {"v_mul_i32_i24", [](u32 a, u32 b, u32) { return u(i64{low24(a)} * low24(b)); }},
    {"v_mul_hi_i32_i24", [](u32 a, u32 b, u32) { return u(i64{low24(a)} * low24(b) >> 32); }},
    {"v_mul_lo_u32", [](u32 a, u32 b, u32) { return a * b; }},
    {"v_mul_hi_u32", [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a} * b >> 32); }},
    {"v_mul_hi_i32", [](u32 a, u32 b, u32) { return u(i64{s(a)} * s(b) >> 32); }},
    {"v_bcnt_u32_b32", [](u32 a, u32 b, u32) { return u(std::popcount(a)) + b; }},
    {"v_bfm_b32", [](u32 a, u32 b, u32) { return ones(a & 31) << (b & 31); }},
    {"v_bfe_u32", [](u32 a, u32 b, u32 c) { return field(a, b & 31, c & 31); }},
    {"v_bfe_i32", [](u32 a, u32 b, u32 c) { return signed_field(a, b & 31, c & 31); }},
    {"v_bfi_b32", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }},
    {"v_alignbit_b32",
     [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> (c & 31)); }},
    {"v_alignbyte_b32",
     [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> 8 * (c & 3)); }},
    {"v_perm_b32", perm},
    {"v_lerp_u8", lerp_u8},
    {"v_sad_u8", [](u32 a, u32 b, u32 c) { return sad_u8(a, b) + c; }},
    {"v_sad_hi_u8", [](u32 a, u32 b, u32 c) { return (sad_u8(a, b) << 16) + c; }},
    {"v_sad_u16",
     [](u32 a, u32 b, u32 c) {
       return distance(half(a, 0), half(b, 0)) + distance(half(a, 1), half(b, 1)) + c;
     }},
    {"v_sad_u32", [](u32 a, u32 b, u32 c) { return distance(a, b) + c; }},
    {"v_msad_u8", [](u32 a, u32 b, u32 c) { return msad_u8(a, b) + c; }},
    {"v_add3_u32", [](u32 a, u32 b, u32 c) { return a + b + c; }},
    {"v_lshl_add_u32", [](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }},
    {"v_add_lshl_u32", [](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }},
    {"v_lshl_or_b32", [](u32 a, u32 b, u32 c) { return a << (b & 31) | c; }},
    {"v_and_or_b32", [](u32 a, u32 b, u32 c) { return (a & b) | c; }},
    {"v_or3_b32", [](u32 a, u32 b, u32 c) { return a | b | c; }},
    {"v_xad_u32", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }},
    {"v_mad_u32_u24", [](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }},
    {"v_mad_i32_i24", [](u32 a, u32 b, u32 c) { return u(i64{low24(a)} * low24(b)) + c; }},
    {"v_min3_i32", [](u32 a, u32 b, u32 c) { return u(std::min({s(a), s(b), s(c)})); }},
    {"v_max3_i32", [](u32 a, u32 b, u32 c) { return u(std::max({s(a), s(b), s(c)})); }},
    {"v_med3_i32", [](u32 a, u32 b, u32 c) { return u(median(s(a), s(b), s(c))); }},
    {"v_min3_u32", [](u32 a, u32 b, u32 c) { return std::min({a, b, c}); }},
    {"v_max3_u32", [](u32 a, u32 b, u32 c) { return std::max({a, b, c}); }},
    {"v_med3_u32", [](u32 a, u32 b, u32 c) { return median(a, b, c); }},
};

/// A result and SCC. `c` is SCC before.
struct Scalar {
  u32 value;
  bool scc;
};
Scalar nonzero(u32 x) { return {x, x != 0}; }
Scalar shifted_add(u32 a, u32 b, int by) {
  const u64 sum = (u64{a} << by) + b;
  return {static_cast<u32>(sum), sum >> 32 != 0};
}
using ScalarFunction = Scalar (*)(u32, u32, bool);
const std::map<std::string, ScalarFunction> kScalar = {
    {"s_add_u32", [](u32 a, u32 b, bool) { return Scalar{a + b, a + b < a}; }},
    {"s_sub_u32", [](u32 a, u32 b, bool) { return Scalar{a - b, a < b}; }},
    {"s_add_i32",
     [](u32 a, u32 b, bool) { return Scalar{a + b, s((a ^ ~b) & (a ^ (a + b))) < 0}; }},
    {"s_sub_i32", [](u32 a, u32 b, bool) { return Scalar{a - b, s((a ^ b) & (a ^ (a - b))) < 0}; }},
    {"s_addc_u32",
     [](u32 a, u32 b, bool c) { return Scalar{a + b + c, (u64{a} + b + c) >> 32 != 0}; }},
    {"s_subb_u32", [](u32 a, u32 b, bool c) { return Scalar{a - b - c, u64{b} + c > a}; }},
    {"s_min_i32", [](u32 a, u32 b, bool) { return Scalar{s(a) < s(b) ? a : b, s(a) < s(b)}; }},
    {"s_max_i32", [](u32 a, u32 b, bool) { return Scalar{s(a) > s(b) ? a : b, s(a) > s(b)}; }},
    {"s_min_u32", [](u32 a, u32 b, bool) { return Scalar{std::min(a, b), a < b}; }},
    {"s_max_u32", [](u32 a, u32 b, bool) { return Scalar{std::max(a, b), a > b}; }},
    {"s_and_b32", [](u32 a, u32 b, bool) { return nonzero(a & b); }},
    {"s_or_b32", [](u32 a, u32 b, bool) { return nonzero(a | b); }},
    {"s_xor_b32", [](u32 a, u32 b, bool) { return nonzero(a ^ b); }},
    {"s_andn2_b32", [](u32 a, u32 b, bool) { return nonzero(a & ~b); }},
    {"s_orn2_b32", [](u32 a, u32 b, bool) { return nonzero(a | ~b); }},
    {"s_nand_b32", [](u32 a, u32 b, bool) { return nonzero(~(a & b)); }},
    {"s_nor_b32", [](u32 a, u32 b, bool) { return nonzero(~(a | b)); }},
    {"s_xnor_b32", [](u32 a, u32 b, bool) { return nonzero(~(a ^ b)); }},
    {"s_lshl_b32", [](u32 a, u32 b, bool) { return nonzero(a << (b & 31)); }},
    {"s_lshr_b32", [](u32 a, u32 b, bool) { return nonzero(a >> (b & 31)); }},
    {"s_ashr_i32", [](u32 a, u32 b, bool) { return nonzero(u(s(a) >> (b & 31))); }},
    {"s_bfm_b32", [](u32 a, u32 b, bool c) { return Scalar{ones(a & 31) << (b & 31), c}; }},
    {"s_mul_i32", [](u32 a, u32 b, bool c) { return Scalar{a * b, c}; }},
    {"s_mul_hi_u32",
     [](u32 a, u32 b, bool c) { return Scalar{static_cast<u32>(u64{a} * b >> 32), c}; }},
    {"s_mul_hi_i32", [](u32 a, u32 b, bool c) { return Scalar{u(i64{s(a)} * s(b) >> 32), c}; }},
    {"s_lshl1_add_u32", [](u32 a, u32 b, bool) { return shifted_add(a, b, 1); }},
    {"s_lshl2_add_u32", [](u32 a, u32 b, bool) { return shifted_add(a, b, 2); }},
    {"s_lshl3_add_u32", [](u32 a, u32 b, bool) { return shifted_add(a, b, 3); }},
    {"s_lshl4_add_u32", [](u32 a, u32 b, bool) { return shifted_add(a, b, 4); }},
    {"s_pack_ll_b32_b16", [](u32 a, u32 b, bool c) { return Scalar{half(a, 0) | b << 16, c}; }},
    {"s_pack_lh_b32_b16",
     [](u32 a, u32 b, bool c) { return Scalar{half(a, 0) | half(b, 1) << 16, c}; }},
    {"s_pack_hh_b32_b16",
     [](u32 a, u32 b, bool c) { return Scalar{half(a, 1) | half(b, 1) << 16, c}; }},
    {"s_cselect_b32", [](u32 a, u32 b, bool c) { return Scalar{c ? a : b, c}; }},
    {"s_absdiff_i32", [](u32 a, u32 b, bool) { return nonzero(s(a - b) < 0 ? b - a : a - b); }},
    {"s_not_b32", [](u32 a, u32, bool) { return nonzero(~a); }},
    {"s_brev_b32", [](u32 a, u32, bool c) { return Scalar{reversed(a), c}; }},
    {"s_bcnt0_i32_b32", [](u32 a, u32, bool) { return nonzero(u(std::popcount(~a))); }},
    {"s_bcnt1_i32_b32", [](u32 a, u32, bool) { return nonzero(u(std::popcount(a))); }},
    {"s_ff0_i32_b32", [](u32 a, u32, bool c) { return Scalar{trailing(~a), c}; }},
    {"s_ff1_i32_b32", [](u32 a, u32, bool c) { return Scalar{trailing(a), c}; }},
    {"s_flbit_i32_b32", [](u32 a, u32, bool c) { return Scalar{leading(a), c}; }},
    {"s_flbit_i32", [](u32 a, u32, bool c) { return Scalar{leading_signs(a), c}; }},
    {"s_sext_i32_i8", [](u32 a, u32, bool c) { return Scalar{u(static_cast<int8_t>(a)), c}; }},
    {"s_sext_i32_i16", [](u32 a, u32, bool c) { return Scalar{u(static_cast<int16_t>(a)), c}; }},
    {"s_abs_i32", [](u32 a, u32, bool) { return nonzero(s(a) < 0 ? 0 - a : a); }},
};

constexpr u32 kExtremes[] = {0,        1,          2,          31,        32,     0x7f,
                             0x80,     0xff,       0x7fff,     0x8000,    0xffff, 0x7fffff,
                             0x800000, 0x7fffffff, 0x80000000, 0xffffffff};

/// Every other operand is an extreme one.
u32 operand(std::mt19937_64& random) {
  const u32 x = static_cast<u32>(random());
  return random() % 2 ? kExtremes[x % std::size(kExtremes)] : x;
}

TEST_CASE("32-bit vector integers are those of C++", "[emulator][instructions]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  InstructionHarness harness(chip);
  std::mt19937_64 random(23);
  std::set<std::string> met;
  for (size_t i = 0; i < harness.instructions().size(); ++i) {
    const EncodedInstruction& e = harness.instructions()[i];
    const auto found = kVector.find(e.name);
    const std::string operands = e.text.substr(e.mnemonic.size());
    const bool plain =
        operands == " v64, v0" || operands == " v64, v0, v8" || operands == " v64, v0, v8, v32";
    if (found == kVector.end() || !plain) continue;
    met.insert(e.name);
    for (int run = 0; run < 4; ++run) {
      harness.prepare(i, random(), ~uint64_t{0}, 0);
      u32 source[3][64];
      for (int k = 0; k < 3; ++k) {
        constexpr int kFrom[] = {0, 8, 32};
        for (u32& x : source[k]) x = operand(random);
        std::copy_n(source[k], 64, harness.run().vgpr(kFrom[k]));
      }
      harness.execute(i);
      for (int l = 0; l < 64; ++l) {
        const u32 a = source[0][l], b = source[1][l], c = source[2][l];
        INFO(e.text << " on " << chip << std::hex << ": " << a << ", " << b << ", " << c);
        REQUIRE(harness.run().vgpr(64)[l] == found->second(a, b, c));
      }
    }
  }
  CHECK(met.size() == kVector.size());
}

TEST_CASE("32-bit scalar integers are those of C++", "[emulator][instructions]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  InstructionHarness harness(chip);
  std::mt19937_64 random(29);
  std::set<std::string> met;
  for (size_t i = 0; i < harness.instructions().size(); ++i) {
    const EncodedInstruction& e = harness.instructions()[i];
    const auto found = kScalar.find(e.name);
    if (found == kScalar.end()) continue;
    met.insert(e.name);
    for (int run = 0; run < 300; ++run) {
      harness.prepare(i, random(), ~uint64_t{0}, 0);
      const u32 a = operand(random), b = operand(random);
      harness.run().sgpr(2) = a;
      harness.run().sgpr(4) = b;
      const bool before = harness.run().wave().scc;
      harness.execute(i);
      const Scalar expected = found->second(a, b, before);
      INFO(e.text << " on " << chip << std::hex << ": " << a << ", " << b << ", scc " << before);
      REQUIRE(harness.run().sgpr(16) == expected.value);
      REQUIRE(harness.run().wave().scc == expected.scc);
    }
  }
  CHECK(met.size() == kScalar.size());
}

}  // namespace
}  // namespace baton::tests
