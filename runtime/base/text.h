// Small text helpers: words for error messages, numbers that are read.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace baton {

/// `text` in single quotes on one printable line: other bytes become \xNN, and what is longer than
/// `max_chars` is cut with "...". For text that came from outside.
std::string quote(std::string_view text, size_t max_chars = 80);

/// `text` with every control byte as \xNN, the rest as it is: safe to show on a terminal.
std::string printable(std::string_view text);

/// The candidate nearest to `word` by edit distance, if it is near enough to be a typing slip; else
/// empty. The first of equals wins.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// The whole of `text` as a number; nothing when it is none or does not fit its type. `base` is of
/// integers.
template <typename T>
std::optional<T> parse_number(std::string_view text, [[maybe_unused]] int base = 10) {
  T value = 0;
  const char *begin = text.data(), *end = begin + text.size();
  std::from_chars_result read;
  if constexpr (std::integral<T>) {
    read = std::from_chars(begin, end, value, base);
  } else {
    read = std::from_chars(begin, end, value);
  }
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

/// "4096", "64K", "3M", "4G": bytes, in powers of 1024; nothing for any other text, or for more
/// than `most`.
std::optional<uint64_t> parse_size(std::string_view text,
                                   uint64_t most = std::numeric_limits<uint64_t>::max());

/// "917 bytes", "43 KiB", "1.5 GiB": for people.
std::string size_text(uint64_t bytes);

}  // namespace baton
