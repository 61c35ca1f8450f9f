#include "runtime/emulator/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace baton::emulator {
namespace {

enum class Top : uint8_t { infinity, nan, number, fnuz };

struct Layout {
  int bits, exponent_bits, fraction_bits, bias;
  Top top;  ///< what the highest codes mean
};

constexpr Layout kLayouts[] = {
    {16, 5, 10, 15, Top::infinity}, {16, 8, 7, 127, Top::infinity}, {8, 4, 3, 7, Top::nan},
    {8, 5, 2, 15, Top::infinity},   {8, 4, 3, 8, Top::fnuz},        {8, 5, 2, 16, Top::fnuz},
    {6, 2, 3, 1, Top::number},      {6, 3, 2, 3, Top::number},      {4, 2, 1, 1, Top::number}};

const Layout& layout(SmallFloat format) { return kLayouts[static_cast<int>(format)]; }

/// The code of the largest finite magnitude.
uint32_t largest(const Layout& f) {
  const uint32_t all = (1u << (f.bits - 1)) - 1;
  switch (f.top) {
    case Top::infinity:
      return (((1u << f.exponent_bits) - 1) << f.fraction_bits) - 1;
    case Top::nan:
      return all - 1;
    default:
      return all;
  }
}

uint32_t nan_code(const Layout& f, uint32_t sign) {
  switch (f.top) {
    case Top::infinity:
      return sign | ((1u << (f.bits - 1)) - 1);
    case Top::nan:
      return sign | ((1u << (f.bits - 1)) - 1);
    case Top::fnuz:
      return 1u << (f.bits - 1);
    default:
      return sign | largest(f);
  }
}

double magnitude_of(const Layout& f, uint32_t code) {
  const int field = static_cast<int>(code >> f.fraction_bits);
  const int fraction = static_cast<int>(code & ((1u << f.fraction_bits) - 1));
  if (field == 0) return std::ldexp(fraction, 1 - f.bias - f.fraction_bits);
  return std::ldexp((1 << f.fraction_bits) + fraction, field - f.bias - f.fraction_bits);
}

/// `round` makes an integer of the magnitude in units of its last place.
template <typename Round>
uint32_t encode(const Layout& f, double x, bool saturate, Round round) {
  const uint32_t sign = std::signbit(x) ? 1u << (f.bits - 1) : 0;
  if (std::isnan(x)) return nan_code(f, sign);
  const uint32_t top = largest(f);
  const auto overflow = [&] {
    if (saturate || f.top == Top::number) return sign | top;
    return f.top == Top::infinity ? sign | (top + 1) : nan_code(f, sign);
  };
  const double m = std::fabs(x);
  if (std::isinf(x)) return f.top == Top::infinity && !saturate ? sign | (top + 1) : overflow();
  const int exponent = std::max(m == 0 ? -10000 : std::ilogb(m), 1 - f.bias);
  const double units = round(std::ldexp(m, f.fraction_bits - exponent));
  // Units of a normal number start at 2^fraction_bits; a carry into the next exponent adds up by
  // itself.
  const double code = units + std::ldexp(exponent + f.bias - 1, f.fraction_bits);
  if (code > top) return overflow();
  const uint32_t bits = static_cast<uint32_t>(code);
  if (f.top == Top::fnuz && bits == 0) return 0;
  return sign | bits;
}

}  // namespace

int bits_of(SmallFloat format) { return layout(format).bits; }

double small_to_double(SmallFloat format, uint32_t bits) {
  const Layout& f = layout(format);
  const uint32_t sign = bits >> (f.bits - 1) & 1, code = bits & ((1u << (f.bits - 1)) - 1);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (f.top == Top::fnuz && sign && code == 0) return kNan;
  double m = magnitude_of(f, code);
  if (f.top != Top::fnuz && f.top != Top::number && code > largest(f)) {
    m = f.top == Top::infinity && code == largest(f) + 1 ? std::numeric_limits<double>::infinity()
                                                         : kNan;
  }
  return sign ? -m : m;
}

uint32_t double_to_small(SmallFloat format, double x, bool saturate) {
  return encode(layout(format), x, saturate, [](double units) { return std::nearbyint(units); });
}

uint32_t double_to_small_stochastic(SmallFloat format, double x, uint32_t random, bool saturate) {
  constexpr int kFractionBits32 = 23;
  const Layout& f = layout(format);
  const int dropped = kFractionBits32 - f.fraction_bits;
  const double step = std::ldexp(random >> (32 - dropped), -dropped);
  return encode(f, x, saturate, [&](double units) { return std::floor(units + step); });
}

}  // namespace baton::emulator
