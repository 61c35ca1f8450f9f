// `check_uninit`: follows undefined bits through a wave, as memcheck does on a CPU.
//
// Registers and LDS start undefined, but for the registers that the launch sets. Moving and
// computing with undefined bits is no error; a result is undefined in those bits that change when
// the undefined bits of the sources do (the handler itself is tried with several values), and a
// comparison of undefined bits is undefined as a whole. It is an error when an undefined bit
// decides something outside the wave's registers, in a lane that takes part: an address, a value
// that is stored to memory or added to it, a branch, EXEC, a mode. Loads from memory are defined;
// private memory is followed, but not where a buffer resource addresses it (gfx90a).
#pragma once

#include <string>

#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/shadow.h"
#include "runtime/emulator/uninit_log.h"

namespace baton::emulator {

/// Before the wave executes `in`, which is its static instruction `pc`, with registers moved by M0
/// where the wave's mode says so.
void check_uninit(Wave& wave, const Instruction& in, uint32_t pc);

/// What the rules work on.
struct UninitStep {
  Wave& w;
  const Instruction& in;
  uint32_t pc;
  const UninitInstruction& u;
  WaveShadow& shadow;
  GroupShadow& group;
  UninitLog& log;

  Origin origin_or_new(Origin known, const std::string& what) const;
  void report(int lane, const std::string& use, Origin origin) const;
  /// Reports the operand's undefined bits under `mask` in `lanes` (a scalar's: in any).
  void report_operand(const Operand& operand, uint64_t lanes, uint32_t mask, const char* use) const;
  /// The operand's lanes are written, in the bits of `mask`.
  void define(const Operand& operand, uint64_t lanes, uint32_t mask = ~0u) const;
};

inline bool is_vector(const Operand& o) {
  return o.kind == OperandKind::vgpr || o.kind == OperandKind::agpr;
}
inline bool is_scalar(const Operand& o) {
  return o.kind == OperandKind::sgpr && o.index < kSharedBase;
}

/// "v3", "a7", "s12", "vcc_lo".
std::string register_name(const Operand& operand, int word);

void uninit_compute(const UninitStep& step);
void uninit_memory(const UninitStep& step);
void uninit_lds(const UninitStep& step);

/// While it lives, a handler may be run for its registers alone: what else it changes in the wave
/// and counts is undone.
class Rehearsal {
 public:
  explicit Rehearsal(Wave& wave);
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

 private:
  Wave& wave_;
  Worker* const worker_;
  const SpinWatch spin_;
  const Stop stop_;
  const int32_t memory_budget_;
  const Allocation* const last_allocation_;
};

/// Runs an LDS or private access on the undefined bits themselves, for `lanes` of EXEC.
void shadow_access(const UninitStep& step, uint64_t lanes);

}  // namespace baton::emulator
