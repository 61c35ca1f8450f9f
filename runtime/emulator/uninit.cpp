#include "runtime/emulator/uninit.h"

#include <fmt/format.h>

#include <string_view>

namespace baton::emulator {
namespace {

/// What a rehearsed handler counts goes here.
Worker& rehearsal_worker(size_t instructions) {
  thread_local Tally tally;
  thread_local Worker worker;
  if (tally.hits.size() < instructions) tally = Tally(instructions);
  worker.tally = &tally;
  worker.woken.clear();
  return worker;
}

void check_branch(const UninitStep& step) {
  const std::string_view name = step.in.name;
  WaveShadow& s = step.shadow;
  if (name.starts_with("s_cbranch_scc") && s.scc) {
    step.report(-1, "the branch's condition, SCC,", s.scc_origin);
    s.scc = false;
  } else if (name.starts_with("s_cbranch_vcc")) {
    const uint64_t unknown = s.sgpr[kVcc] | uint64_t{s.sgpr[kVcc + 1]} << 32;
    // One bit that is known to be set decides.
    if (unknown != 0 && (step.w.vcc() & ~unknown) == 0) {
      step.report(__builtin_ctzll(unknown), "the branch's condition, VCC,",
                  s.sgpr_origin[s.sgpr[kVcc] ? kVcc : kVcc + 1]);
      s.sgpr[kVcc] = s.sgpr[kVcc + 1] = 0;
    }
  } else if (!name.starts_with("s_cbranch")) {
    for (const Operand& o : step.u.registers.reads) {
      step.report_operand(o, 0, ~0u, "the jump's target");
    }
  }
  for (const Operand& o : step.u.registers.writes) step.define(o, 0);
}

void check_scalars(const UninitStep& step, const char* use) {
  for (const Operand& o : step.u.registers.reads) {
    if (is_scalar(o)) step.report_operand(o, 0, ~0u, use);
  }
  for (const Operand& o : step.u.registers.writes) {
    if (is_scalar(o)) step.define(o, 0);
  }
}

}  // namespace

void check_uninit(Wave& w, const Instruction& in, uint32_t pc) {
  const Dispatch& d = *w.dispatch;
  const UninitInstruction& u = (*d.uninit)[pc];
  if (u.rule == UninitRule::none) return;
  const UninitStep step{w, in, pc, u, *w.shadow, *w.workgroup->shadow, *d.uninit_log};
  switch (u.rule) {
    case UninitRule::compute:
      return uninit_compute(step);
    case UninitRule::branch:
      return check_branch(step);
    case UninitRule::smem:
      return check_scalars(step, "the operand");
    case UninitRule::mode:
      return check_scalars(step, "the mode");
    case UninitRule::lds:
    case UninitRule::lds_atomic:
      return uninit_lds(step);
    default:
      return uninit_memory(step);
  }
}

Origin UninitStep::origin_or_new(Origin known, const std::string& what) const {
  return known != 0 ? known : log.origin(*w.dispatch->code->program, pc, what);
}

void UninitStep::report(int lane, const std::string& use, Origin origin) const {
  log.add(w, pc, lane, use, origin);
}

void UninitStep::report_operand(const Operand& o, uint64_t lanes, uint32_t mask,
                                const char* use) const {
  for (int k = 0; k < o.words; ++k) {
    const std::string text = fmt::format("{} {}", use, register_name(o, k));
    if (is_scalar(o)) {
      uint32_t& bits = shadow.sgpr[static_cast<size_t>(o.index + k)];
      if (bits & mask) report(-1, text, shadow.sgpr_origin[static_cast<size_t>(o.index + k)]);
      bits &= ~mask;
      continue;
    }
    if (!is_vector(o)) return;
    const uint32_t row = shadow.row(o, k);
    for (uint64_t left = shadow.lanes(row) & lanes; left != 0; left &= left - 1) {
      const int lane = __builtin_ctzll(left);
      if ((shadow.bits(row)[lane] & mask) == 0) continue;
      report(lane, text, shadow.origin(row));
      break;
    }
  }
}

void UninitStep::define(const Operand& o, uint64_t lanes, uint32_t mask) const {
  for (int k = 0; k < o.words; ++k) {
    if (is_scalar(o)) {
      shadow.sgpr[static_cast<size_t>(o.index + k)] = 0;
    } else if (is_vector(o)) {
      const uint32_t row = shadow.row(o, k);
      if (mask == ~0u) {
        shadow.define(row, lanes);
        continue;
      }
      for (uint64_t left = shadow.lanes(row) & lanes; left != 0; left &= left - 1) {
        shadow.bits(row)[__builtin_ctzll(left)] &= ~mask;
      }
      shadow.refresh(row);
    }
  }
}

std::string register_name(const Operand& o, int word) {
  const int index = o.index + word;
  if (o.kind == OperandKind::vgpr) return fmt::format("v{}", index);
  if (o.kind == OperandKind::agpr) return fmt::format("a{}", index);
  switch (index) {
    case kVcc:
      return "vcc_lo";
    case kVcc + 1:
      return "vcc_hi";
    case kM0:
      return "m0";
    case kExec:
      return "exec_lo";
    case kExec + 1:
      return "exec_hi";
    default:
      return fmt::format("s{}", index);
  }
}

Rehearsal::Rehearsal(Wave& w)
    : wave_(w),
      worker_(w.worker),
      spin_(w.spin),
      stop_(w.stop),
      memory_budget_(w.memory_budget),
      last_allocation_(w.last_allocation) {
  w.worker = &rehearsal_worker(w.dispatch->code->program->size() + 1);
  // Handlers count at the instruction before the program counter.
  ++w.pc;
}

Rehearsal::~Rehearsal() {
  --wave_.pc;
  wave_.worker = worker_;
  wave_.spin = spin_;
  wave_.stop = stop_;
  wave_.memory_budget = memory_budget_;
  wave_.last_allocation = last_allocation_;
}

}  // namespace baton::emulator
