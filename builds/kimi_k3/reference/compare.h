// When is a result right: the rules that a stage's output is held to.
#pragma once

#include <span>
#include <string>

#include "builds/kimi_k3/reference/bf16.h"

namespace baton::reference {

enum class Rule : uint8_t {
  exact,           ///< bit for bit, any NaN equals any NaN
  rounded_dot,     ///< bf16 of a dot: at most 0.1 % more than 1 unit apart, relative L2 <= 5e-4
  fp32,            ///< relative L2 <= 1e-5
  end_to_end,      ///< relative L2 <= 2e-3
  recurrent,       ///< recurrent state: relative L2 <= 1e-3
  o_squares,       ///< sums of squares of bf16 o, of which some round the other way: L2 <= 3e-4
  gated_core,      ///< core_out: relative L2 <= 5e-3
  kda_end_to_end,  ///< relative L2 <= 1e-2
};

struct Comparison {
  size_t elements = 0;
  size_t differing = 0;       ///< not the same bits (NaN equals NaN)
  uint32_t largest_ulps = 0;  ///< largest distance in bf16 units in the last place
  size_t beyond_one_ulp = 0;  ///< more than one unit apart, and not equal by magnitude
  double relative_l2 = 0;
  bool passed = false;
};

/// `row` is the length of a row: values within 1e-3 of each other, times the row's root mean
/// square, count as equal under rounded_dot.
Comparison compare(Rule rule, std::span<const Bf16> actual, std::span<const Bf16> expected,
                   size_t row);
Comparison compare(Rule rule, std::span<const float> actual, std::span<const float> expected);

/// Every byte the same, the payloads of NaNs among them. The rule is exact, the elements are bytes.
Comparison compare_bytes(std::span<const uint8_t> actual, std::span<const uint8_t> expected);

std::string_view name(Rule rule);

}  // namespace baton::reference
