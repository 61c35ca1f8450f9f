#include "tools/baton/run_devices.h"

#include <fmt/format.h>

#include <map>

#include "builds/kernel_check.h"
#include "runtime/base/environment.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/emulator/attend.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

constexpr const char* kHint = "--device emu needs no GPU; `baton devices` lists what there is";

/// "RANK:STAGE:CYCLES".
emulator::Delay parse_delay(const std::string& text, int ranks) {
  const auto fail = [&](std::string_view what) {
    throw Error(ErrorKind::user, fmt::format("--delay {}: {}", quote(text), what),
                "--delay RANK:STAGE:CYCLES, for example --delay 3:reduce:20000");
  };
  const size_t first = text.find(':'), last = text.rfind(':');
  if (first == last) fail("two colons are missing");
  const std::string_view all = text;
  const auto rank = parse_number<uint64_t>(all.substr(0, first));
  const auto cycles = parse_number<uint64_t>(all.substr(last + 1));
  emulator::Delay delay;
  delay.stage = text.substr(first + 1, last - first - 1);
  if (!rank || *rank >= static_cast<uint64_t>(ranks)) {
    fail(fmt::format("the rank is no number of 0 .. {}", ranks - 1));
  }
  if (delay.stage.empty()) fail("the stage is empty");
  if (!cycles) fail("the cycles are no number");
  delay.device = static_cast<int>(*rank);
  delay.cycles = *cycles;
  return delay;
}

/// "8 gfx950, 1 gfx1100", or "no AMD GPU".
std::string count_text(std::span<const hip::Gpu> gpus) {
  std::map<std::string, int> chips;
  for (const hip::Gpu& gpu : gpus) ++chips[gpu.chip.empty() ? "without a chip's name" : gpu.chip];
  std::vector<std::string> counts;
  for (const auto& [chip, count] : chips) {
    counts.push_back(fmt::format("{} {}", count, printable(chip)));
  }
  return counts.empty() ? "no AMD GPU" : fmt::format("{}", fmt::join(counts, ", "));
}

/// Why `options` need the emulator; empty when they do not.
std::string needs_emulator(const RunOptions& options, const BuildKey& key) {
  if (!options.emulator_only.empty()) {
    return options.emulator_only.front() + ": only the emulator has it";
  }
  if (options.absent.empty() || key.flag("diag")) return "";
  return "--absent: the peers' waits would never end on a GPU";
}

}  // namespace

RunDevices::RunDevices(const RunOptions& options, const BuildKey& key)
    : options_(options),
      chip_(key.chip()),
      family_(key.family()),
      ranks_(builds::find_kernel_check(key).ranks) {
  if (options.device != "emu" && options.device != "hip" && options.device != "auto") {
    throw Error(ErrorKind::user, fmt::format("--device knows no {}", quote(options.device)),
                "give emu, hip or auto");
  }
  const std::string reason = needs_emulator(options, key);
  if (required() && !reason.empty()) {
    throw Error(ErrorKind::user, fmt::format("--device hip, {}", reason),
                options.emulator_only.empty() ? "add diag=1 to the key, or give --device emu"
                                              : "leave it out, or give --device emu");
  }
  if (options.device == "emu" || !reason.empty() || !find_gpus()) emulate();
}

/// Takes the first GPUs of the chip. False, or an Error, when there are too few.
bool RunDevices::find_gpus() {
  std::vector<const hip::Gpu*> fitting;
  try {
    platform_ = std::make_unique<hip::Platform>();
  } catch (const Error& error) {
    if (required()) throw;
    if (environment_variable("BATON_HIP_LIBRARY")) {
      report_remark(fmt::format("emulated: {}", error.what()));
    }
    return false;
  }
  for (const hip::Gpu& gpu : platform_->gpus()) {
    if (gpu.chip == chip_) fitting.push_back(&gpu);
  }
  const auto ranks = static_cast<size_t>(ranks_);
  if (fitting.size() < ranks) {
    if (!required()) return false;
    throw Error(ErrorKind::environment,
                fmt::format("--device hip: {} runs on {} {}, HIP sees {}", family_, ranks_, chip_,
                            count_text(platform_->gpus())),
                kHint);
  }
  fitting.resize(ranks);
  for (const hip::Gpu* gpu : fitting) devices_.push_back(&platform_->device(gpu->ordinal));
  return true;
}

void RunDevices::emulate() {
  devices_.clear();
  platform_.reset();  // HIP may hold on to the GPUs
  emulator::EmulatorOptions all = options_.emulator.options(chip_, ranks_);
  for (const std::string& text : options_.delays) all.delays.push_back(parse_delay(text, ranks_));
  emulator_ = std::make_unique<emulator::Emulator>(all);
  for (int rank = 0; rank < ranks_; ++rank) devices_.push_back(&emulator_->device(rank));
}

/// Null when the emulator has taken their place.
std::unique_ptr<Collective> RunDevices::start_on_gpus(const CodeObject& object) {
  try {
    return std::make_unique<Collective>(devices_, object);
  } catch (const Error& error) {
    if (required() || error.kind() != ErrorKind::environment) throw;
    report_remark(fmt::format("emulated: {}", error.what()));
  }
  emulate();
  return nullptr;
}

std::unique_ptr<Collective> RunDevices::start(const CodeObject& object) {
  const bool on_gpus = emulator_ == nullptr;
  if (on_gpus) {
    if (auto collective = start_on_gpus(object)) return collective;
  }
  auto collective = std::make_unique<Collective>(devices_, object);
  emulator::attend(*emulator_, *collective);
  if (on_gpus || collective->fits_chip()) return collective;  // the remark is made, or none is due
  report_remark(
      fmt::format("a {} cannot keep the whole grid resident: on the chip itself this "
                  "kernel would hang; the emulator holds every workgroup",
                  chip_));
  return collective;
}

std::string RunDevices::ranks_text() const {
  const size_t ranks = devices_.size();
  return fmt::format("{} {}rank{} of {}{}", ranks, emulator_ ? "emulated " : "",
                     ranks == 1 ? "" : "s", chip_, emulator_ ? "" : " through HIP");
}

std::string_view RunDevices::clock_text() const {
  return emulator_ ? "emulated clock, not hardware time" : "the GPUs' 100 MHz clock";
}

}  // namespace baton::cli
