#include "tools/baton/emulator_report.h"

#include <fmt/format.h>

#include <array>

namespace baton::cli {
namespace {

using emulator::Counters;
using emulator::RunReport;
using nlohmann::ordered_json;

constexpr std::array<const char*, 3> kScopes = {"workgroup", "device", "system"};

std::string classes_text(const Counters& counters) {
  std::string text;
  for (size_t c = 0; c < counters.by_class.size(); ++c) {
    if (counters.by_class[c] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? " (" : ", ",
                        name(static_cast<emulator::OpClass>(c)), counters.by_class[c]);
  }
  return text.empty() ? text : text + ")";
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

ordered_json bytes_json(const Counters& counters, Counters::Direction direction) {
  ordered_json json;
  for (size_t scope = 0; scope < kScopes.size(); ++scope) {
    json[kScopes[scope]] = counters.bytes[direction][scope];
  }
  return json;
}

ordered_json counters_json(const Counters& counters) {
  ordered_json classes;
  for (size_t c = 0; c < counters.by_class.size(); ++c) {
    classes[std::string(name(static_cast<emulator::OpClass>(c)))] = counters.by_class[c];
  }
  return {{"instructions", counters.steps},
          {"classes", classes},
          {"bytes_loaded", bytes_json(counters, Counters::kLoad)},
          {"bytes_stored", bytes_json(counters, Counters::kStore)},
          {"lds_bytes", counters.lds_bytes},
          {"mfmas", counters.mfmas},
          {"barriers", counters.barriers},
          {"sleeps", counters.sleeps}};
}

}  // namespace

std::string report_text(const RunReport& report) {
  const Counters& c = report.counters;
  std::string text;
  const auto line = [&](std::string_view title, const std::string& value) {
    text += fmt::format("  {:<18} {}\n", title, value);
  };
  line("wave instructions", fmt::format("{}{}", c.steps, classes_text(c)));
  line("bytes loaded", bytes_text(c, Counters::kLoad));
  line("bytes stored", bytes_text(c, Counters::kStore));
  line("LDS bytes",
       fmt::format("{}; bank conflicts cost {} cycles", c.lds_bytes, c.lds_bank_conflicts));
  line("MFMAs", fmt::format("{}", c.mfmas));
  line("waits", fmt::format("{} barriers, {} sleeps", c.barriers, c.sleeps));
  line("fidelity", report.fidelity());
  return text;
}

ordered_json report_json(const RunReport& report) {
  ordered_json json = counters_json(report.counters);
  json["fidelity"] = report.fidelity();
  json["kernels"] = ordered_json::array();
  for (const emulator::KernelReport& kernel : report.kernels) {
    ordered_json stages = ordered_json::array();
    for (const emulator::StageReport& stage : kernel.stages) {
      ordered_json of_stage = {{"stage", stage.stage}};
      of_stage.update(counters_json(stage.counters));
      stages.push_back(std::move(of_stage));
    }
    json["kernels"].push_back(
        {{"kernel", kernel.kernel}, {"launches", kernel.launches}, {"stages", std::move(stages)}});
  }
  json["stored_bytes"] = report.stored_bytes;
  return json;
}

}  // namespace baton::cli
