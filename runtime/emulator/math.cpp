#include "runtime/emulator/math.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace baton::emulator {
namespace {

const double kNegativeNan = -std::numeric_limits<double>::quiet_NaN();

/// x minus the nearest integer, exact.
double turn(double x) { return x - std::rint(x); }

}  // namespace

double exp2_f64(double x) { return std::exp2(x); }
double log2_f64(double x) { return x < 0 ? kNegativeNan : std::log2(x); }
double sin_turns_f64(double x) {
  if (std::isinf(x)) return kNegativeNan;
  const double t = turn(x);
  if (t == 0) return std::copysign(0.0, x);
  if (std::fabs(t) == 0.5) return std::copysign(0.0, t);
  return std::sin(2 * std::numbers::pi * t);
}
double cos_turns_f64(double x) {
  if (std::isinf(x)) return kNegativeNan;
  const double t = std::fabs(turn(x));
  if (t == 0.25) return 0;
  return std::cos(2 * std::numbers::pi * t);
}
double reciprocal_f64(double x) { return 1.0 / x; }
double root_f64(double x) { return x < 0 ? kNegativeNan : std::sqrt(x); }
double reciprocal_root_f64(double x) {
  if (x < 0) return kNegativeNan;
  // One step in extended precision: a double root and a double quotient would round twice.
  return static_cast<double>(1.0L / std::sqrt(static_cast<long double>(x)));
}

float exp2_f32(float x) { return static_cast<float>(std::exp2(static_cast<double>(x))); }
float log2_f32(float x) { return static_cast<float>(log2_f64(static_cast<double>(x))); }
float sin_turns_f32(float x) { return static_cast<float>(sin_turns_f64(static_cast<double>(x))); }
float cos_turns_f32(float x) { return static_cast<float>(cos_turns_f64(static_cast<double>(x))); }

double scaled_fma(double a, double b, double c, int shift) {
  const double rounded = std::fma(a, b, c);
  const double scaled = std::ldexp(rounded, shift);
  if (std::fabs(scaled) >= 0x1p-1022 || rounded == 0 || !std::isfinite(rounded)) return scaled;
  // A subnormal result: the first rounding must not have hidden which way the rest lay.
  const double product = a * b, product_rest = std::fma(a, b, -product);
  const double sum = product + c, back = sum - product;
  const double rest = (product - (sum - back)) + (c - back) + product_rest;
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (rest != 0 && !(bits & 1)) bits = (rest > 0) == (sum > 0) ? bits | 1 : bits - 1;
  return std::ldexp(std::bit_cast<double>(bits), shift);
}

uint32_t round_to_half(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint32_t sign = static_cast<uint32_t>(bits >> 48) & 0x8000;
  if (std::isnan(x)) return sign | 0x7e00;
  const double m = std::fabs(x);
  if (m >= 65520.0) return sign | 0x7c00;
  if (m < 0x1p-14) return sign | static_cast<uint32_t>(std::nearbyint(m * 0x1p24));
  int exponent = 0;
  const double mantissa = std::frexp(m, &exponent);  // in [0.5, 1)
  const auto scaled = static_cast<uint32_t>(std::nearbyint(mantissa * 2048.0));
  return sign | ((static_cast<uint32_t>(exponent + 14) << 10) + (scaled - 1024));
}

}  // namespace baton::emulator
