// summary.txt of a shipped folder: a row a key, for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/cache/manifest.h"

namespace baton::builds {

inline constexpr const char* kSummaryFile = "summary.txt";
/// What stands for a compile time that is not known.
inline constexpr const char* kNoTime = "-";

/// A compile time in ms: kNoTime or a few digits.
bool is_time(std::string_view text);

/// `times` are of the manifest's entries, in their order.
std::string summary_text(const Manifest& manifest, std::span<const std::string> times);

/// Whether `text` is a summary of this manifest, whatever its times.
bool is_summary(std::string_view text, const Manifest& manifest);

}  // namespace baton::builds
