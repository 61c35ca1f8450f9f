#include "tools/baton/emu_report.h"

#include <fmt/format.h>

#include <array>

namespace baton::cli {
namespace {

using emulator::Counters;
using emulator::RunReport;

constexpr std::array<const char*, 3> kScopes = {"workgroup", "device", "system"};

uint64_t all_instructions(const RunReport& report) {
  uint64_t all = 0;
  for (const auto& [name, count] : report.classes) all += count;
  return all;
}

std::string bytes_text(const Counters& counters, Counters::Direction direction) {
  std::string text;
  for (size_t scope = 0; scope < kScopes.size(); ++scope) {
    const uint64_t bytes = counters.bytes[direction][scope];
    if (bytes == 0) continue;
    text += fmt::format("{}{} at {} scope", text.empty() ? "" : ", ", bytes, kScopes[scope]);
  }
  return text.empty() ? "none" : text;
}

nlohmann::ordered_json bytes_json(const Counters& counters, Counters::Direction direction) {
  nlohmann::ordered_json json;
  for (size_t scope = 0; scope < kScopes.size(); ++scope) {
    json[kScopes[scope]] = counters.bytes[direction][scope];
  }
  return json;
}

}  // namespace

std::string counters_text(const RunReport& report) {
  const Counters& c = report.counters;
  std::string classes;
  for (const auto& [name, count] : report.classes) {
    classes += fmt::format("{}{} {}", classes.empty() ? " (" : ", ", name, count);
  }
  std::string text;
  const auto line = [&](std::string_view title, const std::string& value) {
    text += fmt::format("  {:<18} {}\n", title, value);
  };
  line("wave instructions",
       fmt::format("{}{}", all_instructions(report), classes.empty() ? "" : classes + ")"));
  line("bytes loaded", bytes_text(c, Counters::kLoad));
  line("bytes stored", bytes_text(c, Counters::kStore));
  line("LDS bytes", fmt::format("{}, {} bank conflicts", c.lds_bytes, c.lds_bank_conflicts));
  line("MFMAs", fmt::format("{}", c.mfmas));
  line("waits", fmt::format("{} barriers, {} sleeps", c.barriers, c.sleeps));
  line("fidelity", report.fidelity());
  return text;
}

nlohmann::ordered_json counters_json(const RunReport& report) {
  const Counters& c = report.counters;
  return {{"instructions", all_instructions(report)},
          {"classes", report.classes},
          {"bytes_loaded", bytes_json(c, Counters::kLoad)},
          {"bytes_stored", bytes_json(c, Counters::kStore)},
          {"lds_bytes", c.lds_bytes},
          {"lds_bank_conflicts", c.lds_bank_conflicts},
          {"mfmas", c.mfmas},
          {"barriers", c.barriers},
          {"sleeps", c.sleeps},
          {"fidelity", report.fidelity()}};
}

}  // namespace baton::cli
