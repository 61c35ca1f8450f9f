#include "builds/matrix_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "runtime/base/text.h"

namespace baton::builds {
namespace {

constexpr const char* kRow = "{:<7} {:>5} {:>5} {:>6} {:>10} {:>7} {:>6}  {}\n";
constexpr int kTimeColumn = 6;
constexpr int kHeadLines = 4;

/// The word of a row that is its time, or kNoTime.
std::string time_of(const std::string& row) {
  std::istringstream words(row);
  std::string word;
  for (int column = 0; column <= kTimeColumn; ++column) words >> word;
  return is_time(word) ? word : kNoTime;
}

}  // namespace

bool is_time(std::string_view text) {
  constexpr size_t kMostDigits = 9;
  return text == kNoTime || (!text.empty() && text.size() <= kMostDigits &&
                             text.find_first_not_of("0123456789") == text.npos);
}

std::string summary_text(const Manifest& manifest, std::span<const std::string> times) {
  std::string text =
      fmt::format("{}\n{} code objects, baton {}, LLVM {}\n\n", printable(manifest.name),
                  manifest.entries.size(), manifest.baton_version, manifest.llvm_version);
  text += fmt::format(kRow, "chip", "VGPRs", "SGPRs", "LDS", "waves/SIMD", "bytes", "ms", "key");
  for (size_t i = 0; i < manifest.entries.size(); ++i) {
    const ManifestEntry& entry = manifest.entries[i];
    text += fmt::format(kRow, entry.chip, entry.vgprs, entry.sgprs, entry.lds_bytes,
                        entry.waves_per_simd, entry.bytes, times[i], entry.key);
  }
  return text;
}

bool is_summary(std::string_view text, const Manifest& manifest) {
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int i = 0; i < kHeadLines; ++i) std::getline(lines, line);
  std::vector<std::string> times;
  for (size_t i = 0; i < manifest.entries.size(); ++i) {
    std::getline(lines, line);
    times.push_back(time_of(line));
  }
  return text == summary_text(manifest, times);
}

}  // namespace baton::builds
