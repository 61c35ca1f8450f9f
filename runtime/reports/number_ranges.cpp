#include "runtime/reports/number_ranges.h"

#include <fmt/format.h>

namespace baton {

std::vector<std::pair<uint32_t, uint32_t>> number_ranges(std::span<const uint32_t> numbers) {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  for (uint32_t number : numbers) {
    if (!ranges.empty() && ranges.back().second + 1 == number) {
      ranges.back().second = number;
    } else {
      ranges.emplace_back(number, number);
    }
  }
  return ranges;
}

std::string ranges_text(std::span<const uint32_t> numbers) {
  constexpr size_t kShown = 4;
  std::string text;
  size_t shown = 0, left = numbers.size();
  for (const auto& [first, last] : number_ranges(numbers)) {
    if (shown++ == kShown) return text + fmt::format(" and {} more", left);
    if (!text.empty()) text += ", ";
    text += fmt::format("{}", first);
    if (last > first) text += fmt::format("{}{}", last == first + 1 ? ", " : " .. ", last);
    left -= last - first + 1;
  }
  return text;
}

}  // namespace baton
