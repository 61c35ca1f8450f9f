// attn_post on 8 emulated ranks, for tests of what the emulator says about a kernel with stages.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "builds/builder.h"
#include "builds/families.h"
#include "builds/kernel_check.h"
#include "runtime/base/digest.h"
#include "runtime/emulator/emulator.h"
#include "runtime/emulator/program.h"

namespace baton::tests {

/// Compiled once a process.
inline const CodeObject& attn_post_object(const BuildKey& key) {
  static std::map<std::string, CodeObject> objects;
  const std::string name = key.text() + key.chip();
  const auto found = objects.find(name);
  if (found != objects.end()) return found->second;
  return objects.emplace(name, builds::build(key).code_object).first->second;
}

/// The object with every instruction of `handoff` whose text starts with `mnemonic` made s_nops.
inline CodeObject without(const CodeObject& object, const std::string& handoff,
                          const std::string& mnemonic) {
  CodeObject changed = object;
  const ElfImage image = ElfImage::parse(changed.bytes, "attn_post");
  const emulator::Program program(image, emulator::HandlerTable::of(emulator::best_host_level()));
  constexpr uint32_t kNop = 0xbf800000;
  for (size_t i = 0; i + 1 < program.size(); ++i) {
    const emulator::InstructionInfo& info = program.info(i);
    if (program.handoff(i) != handoff || !info.text.starts_with(mnemonic)) continue;
    const uint64_t bytes = program.info(i + 1).vaddr - info.vaddr;
    const ByteView code = image.bytes_at(info.vaddr, bytes);
    uint8_t* at = changed.bytes.data() + (code.data() - changed.bytes.data());
    for (uint64_t k = 0; k < bytes; k += 4) std::memcpy(at + k, &kNop, 4);
  }
  changed.record.sha256 = sha256(changed.bytes).hex();
  return changed;
}

/// 8 ranks with inputs of seed 1, ready to step.
class AttnPost {
 public:
  AttnPost(const BuildKey& key, const CodeObject& object, emulator::EmulatorOptions options)
      : emulator_(with_ranks(std::move(options), key)),
        key_(key),
        collective_(devices(), object),
        inputs_(builds::find_kernel_check(key).random_inputs(key, 1)) {
    emulator_.set_names({.address = [this](uint64_t a) { return collective_.describe(a); }});
  }

  builds::StepResult step() { return builds::run_step(collective_, key_, inputs_, /*layer=*/3); }
  bool step_is_right() { return builds::all_passed(builds::check_step(key_, inputs_, step())); }
  /// What the step's Error says; empty when there is none.
  std::string failure() {
    try {
      step();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  emulator::Emulator& emulator() { return emulator_; }
  builds::RankTensors& inputs() { return inputs_; }

 private:
  static emulator::EmulatorOptions with_ranks(emulator::EmulatorOptions options,
                                              const BuildKey& key) {
    options.chip = key.chip();
    options.devices = kRanks;
    return options;
  }
  std::vector<Device*> devices() {
    std::vector<Device*> all;
    for (int rank = 0; rank < kRanks; ++rank) all.push_back(&emulator_.device(rank));
    return all;
  }

  emulator::Emulator emulator_;
  const BuildKey& key_;
  Collective collective_;
  builds::RankTensors inputs_;
};

}  // namespace baton::tests
