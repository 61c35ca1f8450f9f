#include "runtime/emulator/diagnosis.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "runtime/emulator/spin.h"

namespace baton::emulator {
namespace {

constexpr size_t kMaxGroups = 24;

std::string workgroup_name(const Workgroup& group) {
  const auto& grid = group.dispatch->shape.grid;
  if (grid[1] == 1 && grid[2] == 1) return fmt::format("workgroup {}", group.id[0]);
  return fmt::format("workgroup ({}, {}, {})", group.id[0], group.id[1], group.id[2]);
}

/// Waves that wait at the same instruction of the same device's launch.
struct WaitKey {
  int device;
  bool barrier;
  uint32_t pc;
  auto operator<=>(const WaitKey&) const = default;
};
struct WaitGroup {
  uint64_t waves = 0;
  const Wave* example = nullptr;
  std::set<uint32_t> lines;  ///< buckets of what they read
};

std::string describe(const WaitKey& key, const WaitGroup& group, const Names& names) {
  const Wave& w = *group.example;
  const Program& program = *w.dispatch->code->program;
  std::string text =
      fmt::format("device {}: {} wave{}", key.device, group.waves, group.waves == 1 ? "" : "s");
  text += key.barrier ? " at the barrier in " : " re-reading in ";
  text += code_place(program, key.pc);
  text += fmt::format(", e.g. {} wave {}", workgroup_name(*w.workgroup), w.index);
  if (!key.barrier && w.spin.last_address != 0) {
    const std::string region = names.address ? names.address(w.spin.last_address) : std::string();
    text += fmt::format(": saw 0x{:x} at 0x{:x}{}", w.spin.last_value, w.spin.last_address,
                        region.empty() ? "" : " = " + region);
    const auto awaited = [&](uint64_t address) {
      return group.lines.contains(WatchTable::bucket(address));
    };
    const std::string missing =
        names.missing ? names.missing(w.spin.last_address, awaited) : std::string();
    if (!missing.empty()) text += "; " + missing;
  }
  return text;
}

}  // namespace

std::string code_place(const Program& program, uint32_t index) {
  const InstructionInfo& info = program.info(index);
  std::string text;
  if (const uint16_t stage = program.stage_of(index)) {
    text = "stage " + program.stages()[stage];
    const std::string& handoff = program.handoff(index);
    text += handoff.empty() ? ", " : fmt::format(" ({}), ", handoff);
  }
  text += fmt::format("'{}' at 0x{:x}", info.text, info.vaddr);
  const std::string line = program.source_line(index);
  if (!line.empty()) text += " (" + line + ")";
  return text;
}

std::string wave_name(const Wave& w) {
  return fmt::format("kernel {}, device {}, {}, wave {}", w.dispatch->code->kernel.name,
                     w.dispatch->device, workgroup_name(*w.workgroup), w.index);
}

Error fault_error(const Wave& w, const Fault& fault) {
  const Program& program = *w.dispatch->code->program;
  const uint32_t index =
      std::min<uint32_t>(w.pc == 0 ? 0 : w.pc - 1, static_cast<uint32_t>(program.size() - 1));
  std::string where = wave_name(w);
  if (fault.lane() >= 0) where += fmt::format(", lane {}", fault.lane());
  return Error(ErrorKind::failed_check,
               fmt::format("{}: {}; in {}", where, fault.what(), code_place(program, index)));
}

Error limit_error(uint64_t steps, uint64_t limit, const std::vector<const Workgroup*>& workgroups) {
  std::string text = fmt::format(
      "the launch has not ended after {} wave instructions, the limit is {}", steps, limit);
  for (const Workgroup* group : workgroups) {
    if (group->state == GroupState::running) continue;  // on another thread
    for (const auto& wave : group->waves) {
      if (wave->state == WaveState::ended) continue;
      const Program& program = *group->dispatch->code->program;
      return Error(ErrorKind::failed_check,
                   fmt::format("{}; e.g. {} is in {}", text, wave_name(*wave),
                               code_place(program, wave->pc)));
    }
  }
  return Error(ErrorKind::failed_check, text);
}

Error hang_error(const std::vector<const Workgroup*>& workgroups, const Names& names) {
  std::map<WaitKey, WaitGroup> groups;
  uint64_t waves = 0;
  for (const Workgroup* group : workgroups) {
    for (const auto& wave : group->waves) {
      if (wave->state == WaveState::ended) continue;
      ++waves;
      const bool barrier = wave->state == WaveState::barrier;
      const uint32_t pc = barrier ? wave->pc - 1 : wait_pc(*wave);
      WaitGroup& found = groups[{group->dispatch->device, barrier, pc}];
      if (found.waves++ == 0) found.example = wave.get();
      for (const Watch& watch : wave->spin.watch) found.lines.insert(watch.bucket);
    }
  }
  std::string text = fmt::format("the launch hangs: none of its {} live waves can go on", waves);
  size_t shown = 0;
  // Who re-reads memory comes first: barriers wait for them.
  for (const bool barrier : {false, true}) {
    for (const auto& [key, group] : groups) {
      if (key.barrier != barrier) continue;
      if (++shown <= kMaxGroups) text += "\n  " + describe(key, group, names);
    }
  }
  if (shown > kMaxGroups) text += fmt::format("\n  and {} more groups", shown - kMaxGroups);
  return Error(ErrorKind::failed_check, text);
}

}  // namespace baton::emulator
