// Small text helpers that error messages share.
#pragma once

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

}  // namespace baton
