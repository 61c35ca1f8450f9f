// The rules of comparison, on values worked out by hand.
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "builds/kimi_k3/reference/compare.h"

namespace baton::reference {
namespace {

constexpr Bf16 kOne = 0x3F80;  // 1.0; the next bf16 is 1.0078125
constexpr Bf16 kNan = 0x7FC0;

TEST_CASE("to_bf16 rounds to nearest even and keeps NaN") {
  CHECK(to_bf16(1.0f) == 0x3F80);
  CHECK(to_bf16(1.00390625f) == 0x3F80);  // half way between 3F80 and 3F81: to even
  CHECK(to_bf16(1.01171875f) == 0x3F82);  // half way between 3F81 and 3F82: to even
  CHECK(to_bf16(1.00390637f) == 0x3F81);  // just above half way
  CHECK(to_bf16(-0.0f) == 0x8000);
  CHECK(to_bf16(1e-40f) == 0x0001);   // 1e-40 / 2^-133 = 1.09: the smallest denormal
  CHECK(to_bf16(3.4e38f) == 0x7F80);  // above the largest bf16 by more than half a unit
  CHECK(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7F800001u)))));
}

TEST_CASE("to_bf16 of a double rounds once") {
  // 1 + 2^-8 + 2^-40 is above the half way point, but rounds to it as an fp32.
  CHECK(to_bf16(1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40)) == 0x3F81);
  CHECK(to_bf16(1.0 + std::ldexp(1.0, -8)) == 0x3F80);
  CHECK(to_bf16(1.0 + std::ldexp(1.0, -8) - std::ldexp(1.0, -40)) == 0x3F80);
  CHECK(to_bf16(-1.0 - std::ldexp(1.0, -8) - std::ldexp(1.0, -40)) == 0xBF81);
}

TEST_CASE("exact takes equal bits only, but any NaN for a NaN") {
  CHECK(compare(Rule::exact, std::vector<Bf16>{kOne, kNan}, std::vector<Bf16>{kOne, 0xFFFF}, 2)
            .passed);
  CHECK_FALSE(compare(Rule::exact, std::vector<Bf16>{0x8000}, std::vector<Bf16>{0}, 1).passed);
  CHECK_FALSE(compare(Rule::exact, std::vector<Bf16>{kNan}, std::vector<Bf16>{kOne}, 1).passed);
  CHECK_FALSE(
      compare(Rule::exact, std::vector<Bf16>{kOne}, std::vector<Bf16>{kOne, kOne}, 1).passed);
}

TEST_CASE("rounded_dot allows one unit anywhere, two units in one element of a thousand") {
  std::vector<Bf16> expected(2000, kOne), actual(2000, kOne);
  actual[7] = kOne + 1;
  Comparison c = compare(Rule::rounded_dot, actual, expected, 2000);
  CHECK(c.differing == 1);
  CHECK(c.largest_ulps == 1);
  CHECK(c.beyond_one_ulp == 0);
  CHECK(c.passed);
  // Two units are 0.0156; with 2 of 2000 the relative L2 is 0.0156 sqrt(2 / 2000) = 4.9e-4.
  actual[7] = actual[8] = kOne + 2;
  c = compare(Rule::rounded_dot, actual, expected, 2000);
  CHECK(c.beyond_one_ulp == 2);
  CHECK(c.relative_l2 == Approx(4.94e-4).epsilon(0.01));
  CHECK(c.passed);
  actual[9] = kOne + 2;
  CHECK_FALSE(compare(Rule::rounded_dot, actual, expected, 2000).passed);
}

TEST_CASE("rounded_dot counts values near a cancelled sum as equal") {
  std::vector<Bf16> expected(1000, kOne), actual(1000, kOne);
  expected[3] = to_bf16(1e-6f);
  actual[3] = to_bf16(-9e-4f);  // many units apart, but within 1e-3 of the row's root mean square
  Comparison c = compare(Rule::rounded_dot, actual, expected, 1000);
  CHECK(c.largest_ulps > 1000);
  CHECK(c.beyond_one_ulp == 0);
  actual[3] = to_bf16(-2e-3f);
  CHECK(compare(Rule::rounded_dot, actual, expected, 1000).beyond_one_ulp == 1);
}

TEST_CASE("a NaN or an infinity on one side only fails every rule") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (Rule rule : {Rule::exact, Rule::rounded_dot, Rule::fp32, Rule::end_to_end, Rule::recurrent,
                    Rule::o_squares, Rule::gated_core, Rule::kda_end_to_end}) {
    CHECK_FALSE(compare(rule, std::vector<float>{1, nan}, std::vector<float>{1, 2}).passed);
    CHECK_FALSE(compare(rule, std::vector<float>{1, 2}, std::vector<float>{1, nan}).passed);
    CHECK_FALSE(compare(rule, std::vector<float>{1, inf}, std::vector<float>{1, 2}).passed);
    CHECK_FALSE(compare(rule, std::vector<float>{1, -inf}, std::vector<float>{1, inf}).passed);
    CHECK(compare(rule, std::vector<float>{nan, inf}, std::vector<float>{nan, inf}).passed);
  }
}

TEST_CASE("fp32 is held to a relative L2 of 1e-5") {
  std::vector<float> expected(100, 1.0f), actual(100, 1.000009f);
  CHECK(compare(Rule::fp32, actual, expected).passed);
  actual.assign(100, 1.000011f);
  CHECK_FALSE(compare(Rule::fp32, actual, expected).passed);
}

TEST_CASE("compare_bytes tells NaNs and zeros apart") {
  const std::vector<uint8_t> expected = {0, 0, 0xC0, 0x7F}, minus = {0, 0x80, 0xC0, 0x7F},
                             other = {1, 0, 0xC0, 0x7F}, shorter = {0, 0, 0xC0};
  CHECK(compare_bytes(expected, expected).passed);
  CHECK(compare_bytes(minus, expected).differing == 1);
  CHECK_FALSE(compare_bytes(minus, expected).passed);
  CHECK_FALSE(compare_bytes(other, expected).passed);
  CHECK_FALSE(compare_bytes(shorter, expected).passed);
}

}  // namespace
}  // namespace baton::reference
