// Values and operators: on constants they are folded, and must give what C++ gives on the host
// type; on run-time values they are the op of that meaning.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <regex>

#include "tests/dsl/dsl_trace.h"

using namespace baton::dsl;
using namespace baton::tests;

namespace {

template <class Host, class Device>
void check_bits(const Device& value, Host expected) {
  if constexpr (sizeof(Host) == 8) {
    CHECK(constant_bits(value.handle()) == std::bit_cast<uint64_t>(expected));
  } else {
    CHECK(constant_bits(value.handle()) == std::bit_cast<uint32_t>(expected));
  }
}

void check_bool(const Bool& value, bool expected) {
  CHECK(constant_bits(value.handle()) == (expected ? 1U : 0U));
}

/// Sums and products wrap around, as the device's do.
template <class Host, class Device>
void check_integers(Host a, Host b) {
  using Wrapping = std::make_unsigned_t<Host>;
  const auto ua = static_cast<Wrapping>(a), ub = static_cast<Wrapping>(b);
  CAPTURE(a, b);
  const Device x(a), y(b);
  check_bits(x + y, static_cast<Host>(ua + ub));
  check_bits(x - b, static_cast<Host>(ua - ub));
  check_bits(a * y, static_cast<Host>(ua * ub));
  check_bits(x & y, static_cast<Host>(a & b));
  check_bits(x | y, static_cast<Host>(a | b));
  check_bits(x ^ b, static_cast<Host>(a ^ b));
  check_bits(~x, static_cast<Host>(~a));
  check_bits(-x, static_cast<Host>(Wrapping{0} - ua));
  check_bits(min(x, y), std::min(a, b));
  check_bits(max(x, y), std::max(a, b));
  check_bool(x == y, a == b);
  check_bool(x != y, a != b);
  check_bool(x < y, a < b);
  check_bool(x <= b, a <= b);
  check_bool(a > y, a > b);
  check_bool(x >= y, a >= b);
  constexpr int kBits = 8 * sizeof(Host);
  for (int amount : {0, 1, 7, kBits - 1}) {
    check_bits(x << amount, static_cast<Host>(ua << amount));
    check_bits(x >> amount, static_cast<Host>(a >> amount));
  }
  if (b == 0 || (std::is_signed_v<Host> && b == static_cast<Host>(-1))) return;
  check_bits(x / y, static_cast<Host>(a / b));
  check_bits(x % b, static_cast<Host>(a % b));
}

template <class Host, class Device>
void check_integer_edges() {
  using Limits = std::numeric_limits<Host>;
  const Host edges[] = {0,
                        1,
                        2,
                        7,
                        static_cast<Host>(-1),
                        static_cast<Host>(-7),
                        static_cast<Host>(Limits::max() / 2 + 1),
                        Limits::min(),
                        Limits::max()};
  traced([&](Kernel&) {
    for (Host a : edges) {
      for (Host b : edges) check_integers<Host, Device>(a, b);
    }
  });
}

}  // namespace

TEST_CASE("integers mean what their host types mean") {
  check_integer_edges<int32_t, I32>();
  check_integer_edges<uint32_t, U32>();
  check_integer_edges<int64_t, I64>();
}

TEST_CASE("floats mean what the host's float means") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const float edges[] = {0.0F, -0.0F, 1.0F, -1.5F, 0.1F, 3e38F, -3e38F, 1e-45F, 1e-38F, infinity};
  traced([&](Kernel&) {
    for (float a : edges) {
      for (float b : edges) {
        CAPTURE(a, b);
        const F32 x(a), y(b);
        const auto check = [](const F32& value, float expected) {
          if (std::isnan(expected)) return;  // payloads are no contract
          check_bits(value, expected);
        };
        check(x + y, a + b);
        check(a - y, a - b);
        check(x * b, a * b);
        if (b != 0.0F) check(x / y, a / b);
        check(-x, -a);
        check_bool(x == y, a == b);
        check_bool(x != y, a != b);
        check_bool(x < b, a < b);
        check_bool(a <= y, a <= b);
        check_bool(x > y, a > b);
        check_bool(x >= y, a >= b);
      }
    }
    // Every comparison with a NaN is false, but for !=.
    const F32 quiet(nan), one(1.0F);
    check_bool(quiet == quiet, false);
    check_bool(quiet != quiet, true);
    check_bool(quiet < one, false);
    check_bool(one <= quiet, false);
    check_bool(quiet > one, false);
    check_bool(one >= quiet, false);
  });
}

TEST_CASE("truth values") {
  traced([&](Kernel&) {
    for (bool a : {false, true}) {
      for (bool b : {false, true}) {
        const Bool x = I32(a ? 1 : 0) == 1, y = I32(b ? 1 : 0) == 1;
        check_bool(x & y, a && b);
        check_bool(x | b, a || b);
        check_bool(a ^ y, a != b);
        check_bool(!x, !a);
      }
    }
  });
}

TEST_CASE("integer conversions") {
  traced([](Kernel&) {
    check_bits(to_i64(I32(-1)), int64_t{-1});
    check_bits(to_i64(U32(0xFFFFFFFFU)), int64_t{0xFFFFFFFF});
    check_bits(to_i32(I64((int64_t{1} << 32) + 5)), int32_t{5});
    check_bits(to_i32(I64(-2)), int32_t{-2});
    check_bits(as_unsigned(I32(-1)), 0xFFFFFFFFU);
    check_bits(as_signed(U32(0x80000000U)), INT32_MIN);
    check_bits(to_i32(I32(1) == 1), int32_t{1});
    check_bits(to_i32(I32(1) == 2), int32_t{0});
  });
}

TEST_CASE("conversions to and from floats") {
  traced([](Kernel&) {
    check_bits(to_f32(I32(-3)), -3.0F);
    check_bits(to_f32(I32(16777217)), 16777216.0F);  // nearest even
    check_bits(to_f32(I32(16777219)), 16777220.0F);
    check_bits(to_i32(F32(2.9F)), int32_t{2});
    check_bits(to_i32(F32(-2.9F)), int32_t{-2});
    check_bits(bitcast<U32>(F32(1.0F)), 0x3F800000U);
    check_bits(bitcast<F32>(U32(0x7FC12345U)), 0x7FC12345U);
    check_bits(bitcast<I32>(F32(-0.0F)), INT32_MIN);
  });
}

TEST_CASE("bf16 is rounded to nearest even and widened exactly") {
  // LLVM folds what the kernel stores to one literal: the rounded half below a half of 1.
  const auto rounded = [](uint32_t word) {
    const std::string text = assembly([&](Kernel& kernel) {
      const auto out = kernel.buffer<U32>("out", {64}, Access::write);
      out.store(0, bitcast<U32>(pack_bf16({bitcast<F32>(U32(word)), 1.0F})));
    });
    std::smatch literal;
    const std::regex pattern("v_mov_b32_e32 v[0-9]+, 0x3f80([0-9a-f]{4})\n");
    if (!std::regex_search(text, literal, pattern)) FAIL(text);
    return std::stoul(literal[1], nullptr, 16);
  };
  CHECK(rounded(0x3F800000) == 0x3F80);
  CHECK(rounded(0x3F807FFF) == 0x3F80);
  CHECK(rounded(0x3F808000) == 0x3F80);  // a tie, to the even one below
  CHECK(rounded(0x3F808001) == 0x3F81);
  CHECK(rounded(0x3F818000) == 0x3F82);  // a tie, to the even one above
  CHECK(rounded(0xBF818000) == 0xBF82);
  CHECK(rounded(0x7F7FFFFF) == 0x7F80);            // beyond the largest: infinity
  CHECK(rounded(0x00018000) == 0x0002);            // subnormal, a tie
  CHECK((rounded(0x7F800001) & 0x7FFF) > 0x7F80);  // a NaN whose payload is all in the lost bits
  traced([](Kernel&) {
    check_bits(to_f32(to_bf16(F32(1.0F))), 1.0F);
    check_bits(round_bf16(bitcast<F32>(U32(0xC0490000U))), 0xC0490000U);
  });
}

TEST_CASE("operators on run-time values") {
  const std::string text = traced([](Kernel& kernel) {
    const I32 i = kernel.i32("i"), j = kernel.i32("j");
    const U32 u = as_unsigned(i), v = as_unsigned(j);
    const I64 l = to_i64(i), m = to_i64(u);
    const F32 f = bitcast<F32>(i), g = bitcast<F32>(j);
    stage("signed", [&] { (void)((i / j) % (i >> j)), (void)min(i, j), (void)max(i, j); });
    stage("unsigned", [&] { (void)((u / v) % (u >> v)), (void)min(u, v), (void)max(u, v); });
    stage("wide", [&] { (void)(l / m + l * m - (l << m)), (void)(l < m); });
    stage("compare", [&] { (void)(i < j), (void)(u < v), (void)(f < g), (void)(f != g); });
    stage("float", [&] {
      (void)(f / g), (void)min(f, g), (void)max(f, g), (void)fma(f, g, f), (void)abs(f), (void)-f;
    });
    stage("approximate", [&] { (void)exp2_approx(f), (void)rcp_approx(f), (void)rsq_approx(f); });
    stage("bits", [&] { (void)popcount(u), (void)popcount(l), (void)~i, (void)(i ^ j); });
    stage("select", [&] { (void)select(i < j, f, 0.5F); });
    stage("convert", [&] { (void)to_bf16(f), (void)to_f32(i), (void)to_i32(f); });
  });
  CHECK(has_in_order(text, {"\"signed\"", "arith.divsi", "arith.shrsi", "arith.remsi",
                            "arith.minsi", "arith.maxsi", "\"unsigned\"", "arith.divui",
                            "arith.shrui", "arith.remui", "arith.minui", "arith.maxui"}));
  CHECK(has_in_order(text, {"arith.extsi %arg0 : i32 to i64", "arith.extui %arg0 : i32 to i64",
                            "\"wide\"", "arith.divsi", "arith.muli", "arith.cmpi slt"}));
  CHECK(has_in_order(text, {"\"compare\"", "arith.cmpi slt", "arith.cmpi ult", "arith.cmpf olt",
                            "arith.cmpf une"}));
  CHECK(has_in_order(
      text, {"\"float\"", "arith.divf", "arith.minnumf", "arith.maxnumf", "math.fma", "math.absf",
             "arith.negf", "\"approximate\"", "rocdl.exp2", "rocdl.rcp", "llvm.amdgcn.rsq"}));
  CHECK(has_in_order(text, {"\"bits\"", "math.ctpop", ": i32", "math.ctpop", ": i64",
                            "arith.trunci", "\"select\"", "arith.select", ": f32", "\"convert\"",
                            "arith.truncf", "arith.sitofp", "arith.fptosi"}));
  CHECK(text.find("fastmath") == std::string::npos);  // nothing is contracted or reassociated
}

TEST_CASE("a constant has one op, at the kernel's head") {
  const std::string text = traced([](Kernel& kernel) {
    const I32 i = kernel.i32("i");
    const I32 five(5);
    If(i < 5, [&] { (void)((i + five) * (2 + I32(3))); });
    (void)(i - 5);
  });
  CHECK(count_of(text, "arith.constant 5 : i32") == 1);
  CHECK(has_in_order(text, {"arith.constant 5 : i32", "scf.if"}));
}

TEST_CASE("vectors") {
  const std::string text = traced([](Kernel& kernel) {
    const F32 f = bitcast<F32>(kernel.i32("i"));
    const F32 two(2.0F);
    const Vec<F32, 4> v({f, two, 3.0F, f});
    CHECK(v[0].handle().get() == f.handle().get());  // an element that is known is itself
    check_bits(v[1], 2.0F);
    check_bits(v[2], 3.0F);
    stage("arithmetic", [&] { (void)(v + v), (void)(v * v), (void)-v, (void)max(v, v * v); });
    stage("cast", [&] {
      const auto pairs = bitcast<Vec<BF16, 8>>(v);
      (void)to_f32(pairs[7]);
      (void)bitcast<U32>(Vec<BF16, 2>({pairs[0], pairs[1]}));
      (void)bitcast<Vec<BF16, 2>>(bitcast<U32>(f));
      (void)bitcast<Vec<U32, 2>>(to_i64(as_signed(bitcast<U32>(f))));
      (void)bitcast<I64>(Vec<F32, 2>({f, f}));
    });
    stage("pack", [&] { (void)pack_bf16({f, 1.0F}); });
  });
  CHECK(has_in_order(text, {"arith.addf", "vector<4xf32>", "arith.mulf", "arith.negf",
                            "arith.maxnumf", "vector<4xf32>"}));
  CHECK(has_in_order(text, {"vector<4xf32> to vector<8xbf16>", "vector.extract", "[7]",
                            "vector<2xbf16> to vector<1xi32>", "vector<1xi32> to vector<2xbf16>",
                            "vector<1xi64> to vector<2xi32>", "vector<2xf32> to vector<1xi64>"}));
  CHECK(has_in_order(text, {"\"pack\"", "arith.truncf", "vector.from_elements", "vector<2xbf16>"}));
}

TEST_CASE("every kind of value compiles on every chip") {
  compile_everywhere([](Kernel& kernel) {
    const auto out = kernel.buffer<F32>("out", {1024}, Access::write);
    const auto words = kernel.buffer<U32>("words", {1024}, Access::write);
    const I32 i = kernel.i32("i") + thread_id();
    const U32 u = as_unsigned(i);
    const F32 f = to_f32(i), g = f / (f + 1.0F);
    const I64 wide = to_i64(i) * to_i64(u) / 3 % 1000;
    F32 sum = fma(f, g, abs(-f)) + exp2_approx(f) + rcp_approx(f) + rsq_approx(f);
    sum = sum + min(f, g) * max(f, 0.5F) + round_bf16(g) + to_f32(popcount(u) + popcount(wide));
    sum = select((f < g) & !(i == 3) | (u > 7U) ^ (wide >= 9), sum, -1.0F);
    sum = sum + to_f32(to_i32(sum) + to_i32(f != g) + (i / 5 - i % 7) + (i << 3) + (i >> 1) + ~i);
    out.store(thread_id(), sum);
    words.store<2>(2 * thread_id(), bitcast<Vec<U32, 2>>(wide));
    words.store(thread_id(), bitcast<U32>(pack_bf16({f, g})) / 3U % 17U + (u >> 2U) + min(u, 9U));
  });
}
