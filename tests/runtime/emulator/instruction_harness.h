// All claimed instructions of a chip as one program, each run by itself on registers and memory of
// the caller's making.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <set>

#include "tests/runtime/emulator/encodings.h"
#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {

/// What an instruction may change.
struct WaveState {
  std::vector<uint32_t> vgprs, agprs;  ///< register n of lane l at 64 n + l
  std::vector<uint32_t> sgprs;
  bool scc;
  std::vector<uint8_t> memory, lds;
  std::vector<uint32_t> scratch;
};

class InstructionHarness {
 public:
  static constexpr int kRegisters = 128;            ///< of each file, that are looked at
  static constexpr uint32_t kFill = 0x3f803f80;     ///< every word of memory and scratch
  static constexpr uint32_t kLdsFill = 0x40004000;  ///< and of LDS
  static constexpr uint32_t kMemoryBytes = 1 << 15;

  /// Assembles what `chip` has and the emulator claims. Throws Error when LLVM's assembler does not
  /// take a text, or makes other bytes of it.
  explicit InstructionHarness(const std::string& chip);

  const std::vector<EncodedInstruction>& instructions() const { return claimed_; }

  /// Random registers, and addresses where the instruction's form has them. EXEC is `exec`.
  /// `kind` 1 and 2: the compare operands of an exchange equal what memory holds.
  void prepare(size_t index, uint64_t seed, uint64_t exec, int kind);
  /// Executes one instruction. Throws Fault.
  void execute(size_t index);

  WaveState state();
  WaveRun& run() { return *run_; }

 private:
  std::vector<EncodedInstruction> claimed_;
  std::unique_ptr<WaveRun> run_;
  std::vector<uint32_t> scratch_;
};

/// "v_add_f32_e32 v64, v0, v8 changed v65, lane 3": each change between the states that LLVM does
/// not list, and each change in a lane that is off.
std::vector<std::string> unexpected_changes(const EncodedInstruction& what, const WaveState& before,
                                            const WaveState& after, uint64_t exec);

/// Whether anything at all differs.
bool same_state(const WaveState& a, const WaveState& b);

}  // namespace baton::tests
