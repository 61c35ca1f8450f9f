#include "runtime/emulator/step.h"

#include "runtime/emulator/fault.h"
#include "runtime/emulator/float_mode.h"
#include "runtime/emulator/program.h"

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

/// One vector instruction with its registers moved by M0.
void step_indexed(Wave& w, const Program& program, const Instruction& in) {
  Instruction moved = in;
  const OpClass op_class =
      program.info(w.pc - 1).row ? program.info(w.pc - 1).row->op_class : OpClass::other;
  if (op_class == OpClass::valu) {
    if (w.gpr_index_mode & kIndexSrc0) move_register(w, program, in, moved.src[0]);
    if (w.gpr_index_mode & kIndexSrc1) move_register(w, program, in, moved.src[1]);
    if (w.gpr_index_mode & kIndexSrc2) move_register(w, program, in, moved.src[2]);
    if (w.gpr_index_mode & kIndexDst) move_register(w, program, in, moved.dst);
  }
  moved.handler(w, moved);
}

}  // namespace

uint64_t run_slice(Wave& w, const Program& program) {
  const Instruction* code = program.code();
  uint64_t* hits = w.worker->hits;
  uint64_t steps = 0;
  apply_float_mode(w.mode);
  w.stop = Stop::none;
  do {
    if (w.gpr_index_mode) [[unlikely]] {
      const uint32_t pc = w.pc++;
      ++hits[pc];
      ++steps;
      step_indexed(w, program, code[pc]);
    } else {
      do {
        const uint32_t pc = w.pc++;
        const Instruction& in = code[pc];
        ++hits[pc];
        ++steps;
        in.handler(w, in);
      } while (w.stop == Stop::none);
    }
    if (w.stop == Stop::indexing) w.stop = Stop::none;
  } while (w.stop == Stop::none);
  return steps;
}

}  // namespace baton::emulator
