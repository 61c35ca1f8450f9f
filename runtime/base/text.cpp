#include "runtime/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace baton {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substitute}));
    }
  }
  return row.back();
}

}  // namespace

std::string quote(std::string_view text, size_t max_chars) {
  const bool cut = text.size() > max_chars;
  std::string out = "'";
  for (const char c : text.substr(0, max_chars)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (cut ? "...'" : "'");
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t best_distance = word.size() < 5 ? 2 : 3;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::optional<uint64_t> parse_size(std::string_view text, uint64_t most) {
  constexpr std::string_view kUnits = "KMG";
  uint64_t unit = 1;
  const size_t place = text.empty() ? kUnits.npos : kUnits.find(text.back());
  if (place != kUnits.npos) {
    unit = uint64_t{1} << (10 * (place + 1));
    text.remove_suffix(1);
  }
  const std::optional<uint64_t> count = parse_number<uint64_t>(text);
  if (!count || *count > most / unit) return std::nullopt;
  return *count * unit;
}

std::string size_text(uint64_t bytes) {
  constexpr uint64_t kUnit = 1024;
  if (bytes < kUnit) return fmt::format("{} bytes", bytes);
  auto count = static_cast<double>(bytes);
  size_t unit = 0;
  constexpr std::string_view kNames[] = {"KiB", "MiB", "GiB"};
  for (count /= kUnit; count >= kUnit && unit + 1 < std::size(kNames); count /= kUnit) ++unit;
  return fmt::format("{:.{}f} {}", count, count < 10 ? 1 : 0, kNames[unit]);
}

}  // namespace baton
