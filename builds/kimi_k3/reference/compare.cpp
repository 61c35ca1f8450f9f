#include "builds/kimi_k3/reference/compare.h"

#include <algorithm>
#include <limits>

namespace baton::reference {

namespace {

constexpr double kCancelledShare = 1e-3;
constexpr double kBeyondShare = 1e-3;

/// Distance in units in the last place: the number of bf16 values between the two.
uint32_t ulps(Bf16 a, Bf16 b) {
  const auto ordered = [](Bf16 v) {
    const int32_t magnitude = v & 0x7FFF;
    return (v & 0x8000) != 0 ? -magnitude : magnitude;
  };
  return static_cast<uint32_t>(std::abs(ordered(a) - ordered(b)));
}

/// Sums for the relative L2: infinite when exactly one side is not finite, or they differ there.
class RelativeL2 {
 public:
  void add(double actual, double expected) {
    if (std::isnan(actual) && std::isnan(expected)) return;
    if (!std::isfinite(actual) || !std::isfinite(expected)) {
      if (actual != expected) difference_ = std::numeric_limits<double>::infinity();
      return;
    }
    difference_ += (actual - expected) * (actual - expected);
    norm_ += expected * expected;
  }
  double value() const {
    if (difference_ == 0) return 0;
    return norm_ == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(difference_ / norm_);
  }

 private:
  double difference_ = 0, norm_ = 0;
};

double limit_of(Rule rule) {
  switch (rule) {
    case Rule::exact:
      return 0;
    case Rule::rounded_dot:
      return 5e-4;
    case Rule::fp32:
      return 1e-5;
    case Rule::end_to_end:
      return 2e-3;
    case Rule::recurrent:
      return 1e-3;
    case Rule::o_squares:
      return 3e-4;
    case Rule::gated_core:
      return 5e-3;
    case Rule::kda_end_to_end:
      return 1e-2;
  }
  return 0;
}

bool judge(Rule rule, const Comparison& c) {
  if (rule == Rule::exact) return c.differing == 0;
  if (!(c.relative_l2 <= limit_of(rule))) return false;
  return rule != Rule::rounded_dot ||
         static_cast<double>(c.beyond_one_ulp) <= kBeyondShare * static_cast<double>(c.elements);
}

double root_mean_square(std::span<const Bf16> row) {
  double sum = 0;
  for (Bf16 v : row) {
    if (std::isfinite(to_float(v))) sum += static_cast<double>(to_float(v)) * to_float(v);
  }
  return std::sqrt(sum / static_cast<double>(row.size()));
}

}  // namespace

Comparison compare(Rule rule, std::span<const Bf16> actual, std::span<const Bf16> expected,
                   size_t row) {
  Comparison result;
  result.elements = expected.size();
  if (actual.size() != expected.size()) return result;
  RelativeL2 l2;
  for (size_t start = 0; start < expected.size(); start += row) {
    const size_t length = std::min(row, expected.size() - start);
    const double close = kCancelledShare * root_mean_square(expected.subspan(start, length));
    for (size_t i = start; i < start + length; ++i) {
      const float a = to_float(actual[i]), e = to_float(expected[i]);
      l2.add(a, e);
      if (actual[i] == expected[i] || (std::isnan(a) && std::isnan(e))) continue;
      ++result.differing;
      const bool has_nan = std::isnan(a) || std::isnan(e);
      const uint32_t distance =
          has_nan ? std::numeric_limits<uint32_t>::max() : ulps(actual[i], expected[i]);
      result.largest_ulps = std::max(result.largest_ulps, distance);
      if (distance > 1 && !(std::fabs(static_cast<double>(a) - e) <= close))
        ++result.beyond_one_ulp;
    }
  }
  result.relative_l2 = l2.value();
  result.passed = judge(rule, result);
  return result;
}

Comparison compare(Rule rule, std::span<const float> actual, std::span<const float> expected) {
  Comparison result;
  result.elements = expected.size();
  if (actual.size() != expected.size()) return result;
  RelativeL2 l2;
  for (size_t i = 0; i < expected.size(); ++i) {
    l2.add(actual[i], expected[i]);
    const bool same = std::bit_cast<uint32_t>(actual[i]) == std::bit_cast<uint32_t>(expected[i]);
    if (same || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
    ++result.differing;
    const Bf16 a = to_bf16(actual[i]), e = to_bf16(expected[i]);
    result.largest_ulps = std::max(result.largest_ulps, ulps(a, e));
  }
  result.relative_l2 = l2.value();
  result.passed = judge(rule, result);
  return result;
}

Comparison compare_bytes(std::span<const uint8_t> actual, std::span<const uint8_t> expected) {
  Comparison result;
  result.elements = expected.size();
  if (actual.size() != expected.size()) return result;
  for (size_t i = 0; i < expected.size(); ++i) result.differing += actual[i] != expected[i];
  result.passed = result.differing == 0;
  return result;
}

std::string_view name(Rule rule) {
  constexpr std::string_view kNames[] = {"exact",     "rounded dot", "fp32",       "end to end",
                                         "recurrent", "o squares",   "gated core", "end to end"};
  return kNames[static_cast<int>(rule)];
}

}  // namespace baton::reference
