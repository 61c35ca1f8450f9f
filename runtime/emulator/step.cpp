#include "runtime/emulator/step.h"

#include "runtime/emulator/bank_conflicts.h"
#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/fault.h"
#include "runtime/emulator/float_mode.h"
#include "runtime/emulator/program.h"
#include "runtime/emulator/uninit.h"

namespace baton::emulator {
namespace {

/// s_set_gpr_idx_on's mode bits.
enum IndexMode : uint8_t { kIndexSrc0 = 1, kIndexSrc1 = 2, kIndexSrc2 = 4, kIndexDst = 8 };

void move_register(const Wave& w, const Program& program, const Instruction& in, Operand& operand) {
  if (operand.kind != OperandKind::vgpr) return;
  const uint32_t index = operand.index + (w.sgpr[kM0] & 0xff);
  if (index + operand.words > program.vgpr_rows())
    fault_unsupported(in, "M0 points past the VGPRs");
  operand.index = static_cast<uint16_t>(index);
}

/// A vector instruction with its registers moved by M0.
Instruction move_registers(const Wave& w, const Program& program, uint32_t index) {
  const Instruction& in = program.code()[index];
  Instruction moved = in;
  const OpRow* row = program.info(index).row;
  if (row && row->op_class == OpClass::valu) {
    if (w.gpr_index_mode & kIndexSrc0) move_register(w, program, in, moved.src[0]);
    if (w.gpr_index_mode & kIndexSrc1) move_register(w, program, in, moved.src[1]);
    if (w.gpr_index_mode & kIndexSrc2) move_register(w, program, in, moved.src[2]);
    if (w.gpr_index_mode & kIndexDst) move_register(w, program, in, moved.dst);
  }
  return moved;
}

/// True when a delay begins before the instruction.
bool delay_begins(Wave& w, uint16_t stage) {
  Workgroup& group = *w.workgroup;
  const std::vector<StageDelay>& delays = w.dispatch->delays;
  for (size_t i = 0; i < delays.size(); ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (delays[i].stage != stage || (group.delays_taken & bit)) continue;
    group.delays_taken |= bit;
    group.hold_steps = delays[i].steps;
    return group.hold_steps != 0;
  }
  return false;
}

/// True when the workgroup pauses before the instruction.
bool pause_begins(Wave& w, uint32_t pc) {
  Workgroup& group = *w.workgroup;
  const int pause = w.dispatch->pauses[pc] - 1;
  if (pause < 0 || (group.pauses_taken >> pause & 1)) return false;
  group.pauses_taken |= uint64_t{1} << pause;
  group.pause = pause;
  group.hold_steps = kPauseSteps;
  return true;
}

/// The loop of a launch that is looked at: before each instruction.
void run_observed(Wave& w, const Program& program) {
  const Dispatch& d = *w.dispatch;
  Tally& tally = *w.worker->tally;
  apply_float_mode(w.mode);
  w.stop = Stop::none;
  do {
    const uint32_t pc = w.pc;
    if ((!d.delays.empty() && delay_begins(w, program.stage_of(pc))) ||
        (!d.pauses.empty() && pause_begins(w, pc))) {
      w.stop = Stop::held;
      return;
    }
    if (d.count_bank_conflicts && program.info(pc).row &&
        program.info(pc).row->op_class == OpClass::lds) {
      tally.traffic[pc].bank_conflicts += bank_conflicts(w, program.code()[pc]);
    }
    Instruction moved;
    if (w.gpr_index_mode) moved = move_registers(w, program, pc);
    const Instruction& in = w.gpr_index_mode ? moved : program.code()[pc];
    if (d.uninit) check_uninit(w, in, pc);
    ++w.pc;
    ++tally.hits[pc];
    ++w.worker->steps;
    in.handler(w, in);
    if (w.stop == Stop::indexing) w.stop = Stop::none;
  } while (w.stop == Stop::none);
}

}  // namespace

void run_slice(Wave& w, const Program& program) {
  if (w.dispatch->observed()) return run_observed(w, program);
  const Instruction* code = program.code();
  Worker& worker = *w.worker;
  uint64_t* hits = worker.tally->hits.data();
  apply_float_mode(w.mode);
  w.stop = Stop::none;
  do {
    if (w.gpr_index_mode) [[unlikely]] {
      const uint32_t pc = w.pc++;
      ++hits[pc];
      ++worker.steps;
      const Instruction moved = move_registers(w, program, pc);
      moved.handler(w, moved);
    } else {
      do {
        const uint32_t pc = w.pc++;
        const Instruction& in = code[pc];
        ++hits[pc];
        ++worker.steps;
        in.handler(w, in);
      } while (w.stop == Stop::none);
    }
    if (w.stop == Stop::indexing) w.stop = Stop::none;
  } while (w.stop == Stop::none);
}

}  // namespace baton::emulator
