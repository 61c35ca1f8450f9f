// Every instruction that the emulator claims is assembled by LLVM for each chip that has it, and
// executed.
#include <catch2/catch.hpp>
#include <fstream>

#include "runtime/emulator/fault.h"
#include "tests/runtime/emulator/instruction_harness.h"
#include "tests/runtime/emulator/instruction_table.h"

namespace baton::tests {
namespace {

using emulator::HandlerTable;

constexpr uint64_t kSomeLanes = 0xf0f0'3c3c'0ff0'8001;

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (size_t i = 0; i < all.size() && i < 40; ++i) text += all[i] + "\n";
  return text + std::to_string(all.size()) + " in all";
}

/// Control and waiting: registers stay as they are.
bool changes_nothing(const EncodedInstruction& e) {
  static const std::set<std::string> kNames = {
      "v_nop",        "ds_nop",         "buffer_wbl2",       "buffer_inv",
      "buffer_invl2", "buffer_wbinvl1", "buffer_wbinvl1_vol"};
  return e.encoding == Encoding::sopp || kNames.contains(e.name);
}

TEST_CASE("every claimed instruction runs and changes what LLVM says, in lanes that are on",
          "[emulator][instructions]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  const uint64_t seed = 17;
  CAPTURE(chip, seed);
  InstructionHarness harness(chip);
  std::vector<std::string> faults, wrong, idle;
  for (size_t i = 0; i < harness.instructions().size(); ++i) {
    const EncodedInstruction& e = harness.instructions()[i];
    bool changed = false;
    for (int run = 0; run < 6; ++run) {
      const uint64_t exec = run % 2 ? kSomeLanes : ~uint64_t{0};
      harness.prepare(i, seed * 1000 + i * 8 + static_cast<uint64_t>(run), exec, run / 2);
      const WaveState before = harness.state();
      try {
        harness.execute(i);
      } catch (const emulator::Fault& fault) {
        if (e.name != "s_trap") faults.push_back(e.text + ": " + fault.what());
        break;
      }
      const WaveState after = harness.state();
      for (std::string& change : unexpected_changes(e, before, after, exec)) {
        wrong.push_back(std::move(change));
      }
      changed |= !same_state(before, after);
    }
    const bool has_results = !e.writes.empty() || e.may_store;
    if (!changed && has_results && !changes_nothing(e)) idle.push_back(e.text);
  }
  INFO("faults:\n"
       << lines(faults) << "\nunlisted changes:\n"
       << lines(wrong) << "\nwithout any effect:\n"
       << lines(idle));
  CHECK(faults.empty());
  CHECK(wrong.empty());
  CHECK(idle.empty());
}

TEST_CASE("every handler is an instruction of some chip", "[emulator][instructions]") {
  std::set<std::string> names;
  for (const char* chip : {"gfx950", "gfx942", "gfx90a"}) {
    for (const EncodedInstruction& e : all_instructions(chip)) names.insert(e.name);
  }
  for (const emulator::OpRow* row : HandlerTable::of(emulator::best_host_level()).rows()) {
    INFO(row->name);
    CHECK(names.contains(row->name));
  }
}

TEST_CASE("docs/instructions.md is what would be written", "[emulator][instructions]") {
  std::ifstream file(BATON_INSTRUCTIONS_MD, std::ios::binary);
  const std::string committed((std::istreambuf_iterator<char>(file)),
                              std::istreambuf_iterator<char>());
  INFO("write it anew with: ninja instruction_table");
  // Not compared within the macro, which would print both.
  const bool same = committed == instruction_table();
  CHECK(same);
}

}  // namespace
}  // namespace baton::tests
