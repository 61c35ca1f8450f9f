// A check of flags that take a whole number: CLI11 alone takes "-1" for a large one.
#pragma once

#include <CLI/CLI.hpp>
#include <limits>

#include "runtime/base/text.h"

namespace baton::cli {

/// Refuses what is no whole number of `least` .. `most`.
template <class Integer>
CLI::Validator whole_number(Integer least = 0, Integer most = std::numeric_limits<Integer>::max()) {
  const auto refusal = [least, most](std::string& text) {
    const auto value = parse_number<Integer>(text);
    if (value && *value >= least && *value <= most) return std::string();
    return fmt::format("{} is no whole number of {} .. {}", quote(text), least, most);
  };
  return CLI::Validator(refusal, "");
}

}  // namespace baton::cli
