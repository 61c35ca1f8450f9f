#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/base/text.h"
#include "runtime/device/hip/hip_platform.h"
#include "tools/baton/command.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

using nlohmann::ordered_json;

/// What HIP has to say: its GPUs, or why there are none.
struct HipReport {
  std::string library;
  std::vector<hip::Gpu> gpus;
  std::string reason;  ///< empty when there are GPUs
};

HipReport ask_hip() {
  HipReport report;
  try {
    const hip::Platform platform;
    report.library = platform.library();
    report.gpus = platform.gpus();
    if (report.gpus.empty()) report.reason = fmt::format("{} sees no AMD GPU", report.library);
  } catch (const Error& error) {
    report.reason = error.what();
  }
  return report;
}

bool is_known(const std::string& chip) {
  return std::ranges::find(all_targets(), chip, &Target::chip) != all_targets().end();
}

std::string emulated_chips() {
  std::string chips;
  for (const Target& target : all_targets()) {
    chips += fmt::format("{}{}", chips.empty() ? "" : ", ", target.chip);
  }
  return chips;
}

std::string report_json(const HipReport& report) {
  ordered_json chips = ordered_json::array(), gpus = ordered_json::array();
  for (const Target& target : all_targets()) chips.push_back(target.chip);
  for (const hip::Gpu& gpu : report.gpus) {
    gpus.push_back({{"device", gpu.ordinal},
                    {"name", gpu.name},
                    {"chip", gpu.chip},
                    {"usable", is_known(gpu.chip)}});
  }
  const ordered_json json = {
      {"emu", {{"chips", std::move(chips)}}},
      {"hip",
       {{"library", report.library}, {"devices", std::move(gpus)}, {"reason", report.reason}}}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

int run_devices(bool json) {
  const HipReport report = ask_hip();
  if (json) {
    print(report_json(report));
    return 0;
  }
  print(fmt::format("emu  {}, emulated on this CPU\n", emulated_chips()));
  for (const hip::Gpu& gpu : report.gpus) {
    print(fmt::format("hip  device {}: {}, {}{}\n", gpu.ordinal, printable(gpu.name),
                      printable(gpu.chip),
                      is_known(gpu.chip) ? "" : " (Baton has no kernels for it)"));
  }
  if (!report.reason.empty()) print(fmt::format("hip  none: {}\n", report.reason));
  return 0;
}

}  // namespace

Command add_devices(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* parser =
      app.add_subcommand("devices", "List the devices there are, and why others are not");
  parser->add_flag("--json", *json, "Print JSON");
  parser->footer(
      "HIP's library is opened by the usual names, or by the one in BATON_HIP_LIBRARY.\n\n"
      "Examples:\n"
      "  baton devices\n"
      "  BATON_HIP_LIBRARY=/opt/rocm/lib/libamdhip64.so baton devices --json");
  return {parser, [json] { return run_devices(*json); }};
}

}  // namespace baton::cli
