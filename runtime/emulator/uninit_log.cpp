#include "runtime/emulator/uninit_log.h"

#include <algorithm>

#include "runtime/emulator/diagnosis.h"

namespace baton::emulator {
namespace {

constexpr size_t kShownFindings = 8;

}  // namespace

const UninitTable& UninitLog::table(const std::shared_ptr<const Program>& program) {
  const std::lock_guard lock(mutex_);
  auto found = std::ranges::find(checked_, program, &Checked::program);
  if (found == checked_.end()) {
    checked_.push_back({program, std::make_unique<const UninitTable>(*program)});
    found = std::prev(checked_.end());
  }
  return *found->table;
}

UninitLog::Place UninitLog::place_of(const Program& program, uint32_t pc) const {
  const auto found =
      std::ranges::find(checked_, &program, [](const Checked& c) { return c.program.get(); });
  return {static_cast<size_t>(found - checked_.begin()), pc};
}

Origin UninitLog::origin(const Program& program, uint32_t pc, const std::string& what) {
  const std::lock_guard lock(mutex_);
  const Place place = place_of(program, pc);
  const auto [found, inserted] =
      origins_.try_emplace(place, static_cast<Origin>(sources_.size() + 1));
  if (inserted) sources_.push_back({place, what});
  return found->second;
}

void UninitLog::add(const Wave& wave, uint32_t pc, int lane, const std::string& use,
                    Origin origin) {
  const Program& program = *wave.dispatch->code->program;
  const std::lock_guard lock(mutex_);
  const auto [found, inserted] = findings_.try_emplace(place_of(program, pc));
  if (!inserted) return;
  std::string& text = found->second;
  text = wave_name(wave);
  if (lane >= 0) text += fmt::format(", lane {}", lane);
  text += fmt::format(": {} is uninitialised; in {}", use, code_place(program, pc));
  if (origin == 0) {
    text += "; nothing was ever written there";
  } else {
    const Source& source = sources_[origin - 1];
    text += fmt::format("; it comes from {}, which nobody wrote, read in {}", source.what,
                        code_place(*checked_[source.place.first].program, source.place.second));
  }
}

bool UninitLog::empty() const {
  const std::lock_guard lock(mutex_);
  return findings_.empty();
}

Error UninitLog::error() const {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format("{} instruction{} uninitialised registers or LDS",
                                 findings_.size(), findings_.size() == 1 ? " uses" : "s use");
  size_t shown = 0;
  for (const auto& [place, finding] : findings_) {
    if (shown++ == kShownFindings) break;
    text += "\n  " + finding;
  }
  if (shown > kShownFindings) {
    text += fmt::format("\n  and {} more", findings_.size() - kShownFindings);
  }
  return Error(ErrorKind::failed_check, text);
}

}  // namespace baton::emulator
