// Branches, barriers, waits, modes and messages.

#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/fault.h"
#include "runtime/emulator/float_mode.h"
#include "runtime/emulator/scalar_families.h"
#include "runtime/emulator/scalar_operands.h"

namespace baton::emulator {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

void go_to(Wave& w, const Instruction& in, u32 target) {
  if (target == Program::kNowhere) fault_unsupported(in, "a jump to where no instruction starts");
  const bool backward = target < w.pc;
  w.pc = target;
  if (backward && w.branch_budget-- <= 0) w.stop = Stop::slice;
}

void branch(Wave& w, const Instruction& in) { go_to(w, in, in.target); }
template <bool (*Condition)(const Wave&)>
void branch_if(Wave& w, const Instruction& in) {
  if (Condition(w)) go_to(w, in, in.target);
}
bool scc0(const Wave& w) { return !w.scc; }
bool scc1(const Wave& w) { return w.scc; }
bool vccz(const Wave& w) { return w.vcc() == 0; }
bool vccnz(const Wave& w) { return w.vcc() != 0; }
bool execz(const Wave& w) { return w.exec() == 0; }
bool execnz(const Wave& w) { return w.exec() != 0; }

/// The device address of the next instruction.
u64 next_address(const Wave& w) {
  const KernelCode& code = *w.dispatch->code;
  const Program& program = *code.program;
  if (w.pc < program.size()) return code.code_base + program.info(w.pc).vaddr;
  return code.code_base + program.info(w.pc - 1).vaddr + 4;
}
void jump_to_address(Wave& w, const Instruction& in, u64 address) {
  const KernelCode& code = *w.dispatch->code;
  go_to(w, in, code.program->index_of(address - code.code_base));
}

void getpc(Wave& w, const Instruction& in) { w.set_sgpr64(in.dst.index, next_address(w)); }
void setpc(Wave& w, const Instruction& in) { jump_to_address(w, in, read64(w, in.src[0])); }
void swappc(Wave& w, const Instruction& in) {
  const u64 target = read64(w, in.src[0]);
  w.set_sgpr64(in.dst.index, next_address(w));
  jump_to_address(w, in, target);
}
void call(Wave& w, const Instruction& in) {
  w.set_sgpr64(in.dst.index, next_address(w));
  go_to(w, in, in.target);
}

void nothing(Wave&, const Instruction&) {}
void barrier(Wave& w, const Instruction&) {
  w.spin.pure = false;
  w.stop = Stop::barrier;
}
void end(Wave& w, const Instruction&) { w.stop = Stop::ended; }
void sleep(Wave& w, const Instruction&) { w.stop = Stop::sleep; }
void trap(Wave&, const Instruction& in) { fault_unsupported(in, "the kernel trapped"); }

// -- hardware registers ---------------------------------------------------------------------------

enum HwReg {
  kMode = 1,
  kStatus = 2,
  kTrapStatus = 3,
  kHwId = 4,
  kGprAlloc = 5,
  kLdsAlloc = 6,
  kIbStatus = 7,
  kXccId = 20
};
constexpr u32 kXccs = 8;

u32 hw_register(const Wave& w, const Instruction& in, u32 id) {
  switch (id) {
    case kMode:
      return w.mode;
    case kStatus:
      return u32{w.scc} | u32{w.exec() == 0} << 9 | u32{w.vcc() == 0} << 10 | 1u << 16;
    case kTrapStatus:
    case kIbStatus:
      return 0;
    case kHwId:
      return static_cast<u32>(w.index & 0xf) | static_cast<u32>(w.index & 3) << 4;
    case kLdsAlloc:
      return (w.lds_bytes / 512) << 12;
    case kXccId:
      return static_cast<u32>(w.workgroup->number % kXccs);
    default:
      fault_unsupported(in, "this hardware register is not emulated");
  }
}

struct HwField {
  u32 id, shift, mask;
  explicit HwField(u32 imm)
      : id(imm & 0x3f),
        shift((imm >> 6) & 0x1f),
        mask(static_cast<u32>((u64{1} << (((imm >> 11) & 0x1f) + 1)) - 1)) {}
};

void getreg(Wave& w, const Instruction& in) {
  const HwField field(in.imm);
  w.set_sgpr(in.dst.index, (hw_register(w, in, field.id) >> field.shift) & field.mask);
}
void set_field(Wave& w, const Instruction& in, u32 value) {
  const HwField field(in.imm);
  if (field.id != kMode) fault_unsupported(in, "only MODE may be written");
  w.mode = (w.mode & ~(field.mask << field.shift)) | (value & field.mask) << field.shift;
  apply_float_mode(w.mode);
}
void setreg(Wave& w, const Instruction& in) { set_field(w, in, read32(w, in.src[1])); }

// -- register indexing ----------------------------------------------------------------------------

/// From here on, until it is switched off, vector registers are found at their number plus M0's low
/// byte; the scheduler's step loop sees to it.
void gpr_idx_on(Wave& w, const Instruction& in) {
  w.gpr_index_mode = static_cast<uint8_t>((in.imm >> 8) & 0xf);
  w.sgpr[kM0] = (w.sgpr[kM0] & ~0xffu) | (read32(w, in.src[0]) & 0xff);
  w.stop = Stop::indexing;
}
void gpr_idx_off(Wave& w, const Instruction&) { w.gpr_index_mode = 0; }
void gpr_idx_mode(Wave& w, const Instruction& in) {
  w.gpr_index_mode = static_cast<uint8_t>(in.imm & 0xf);
  w.stop = Stop::indexing;
}
void gpr_idx_idx(Wave& w, const Instruction& in) {
  w.sgpr[kM0] = (w.sgpr[kM0] & ~0xffu) | (read32(w, in.src[0]) & 0xff);
}

constexpr OpRow branch_row(const char* name, Handler h) {
  return {name, h, OpClass::branch, 0, Type::none, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow other(const char* name, Handler h) {
  return {name, h, OpClass::other, 0, Type::none, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow sync(const char* name, Handler h) {
  return {name, h, OpClass::sync, 0, Type::none, {Type::b32, Type::b32, Type::b32}};
}

constexpr OpRow kRows[] = {
    branch_row("s_branch", branch),
    branch_row("s_cbranch_scc0", branch_if<scc0>),
    branch_row("s_cbranch_scc1", branch_if<scc1>),
    branch_row("s_cbranch_vccz", branch_if<vccz>),
    branch_row("s_cbranch_vccnz", branch_if<vccnz>),
    branch_row("s_cbranch_execz", branch_if<execz>),
    branch_row("s_cbranch_execnz", branch_if<execnz>),
    {"s_call_b64", call, OpClass::branch, 1, Type::b64, {Type::b32, Type::b32, Type::b32}},
    {"s_getpc_b64", getpc, OpClass::salu, 1, Type::b64, {}},
    {"s_setpc_b64", setpc, OpClass::salu, 0, Type::none, {Type::b64, Type::b64, Type::b64}},
    {"s_swappc_b64", swappc, OpClass::salu, 1, Type::b64, {Type::b64, Type::b64, Type::b64}},
    other("s_nop", nothing),
    sync("s_waitcnt", nothing),
    sync("s_barrier", barrier),
    sync("s_sleep", sleep),
    other("s_setprio", nothing),
    other("s_sendmsg", nothing),
    other("s_icache_inv", nothing),
    other("s_incperflevel", nothing),
    other("s_decperflevel", nothing),
    other("s_ttracedata", nothing),
    other("s_wakeup", nothing),
    other("s_endpgm", end),
    other("s_endpgm_saved", end),
    other("s_trap", trap),
    {"s_getreg_b32", getreg, OpClass::salu, 1, Type::b32, {Type::b32, Type::b32, Type::b32}},
    {"s_setreg_b32", setreg, OpClass::salu, 0, Type::none, {Type::b32, Type::b32, Type::b32}},
    {"s_setreg_imm32_b32", setreg, OpClass::salu, 0, Type::none, {Type::b32, Type::b32, Type::b32}},
    {"s_set_gpr_idx_on",
     gpr_idx_on,
     OpClass::salu,
     0,
     Type::none,
     {Type::b32, Type::b32, Type::b32}},
    other("s_set_gpr_idx_off", gpr_idx_off),
    other("s_set_gpr_idx_mode", gpr_idx_mode),
    {"s_set_gpr_idx_idx",
     gpr_idx_idx,
     OpClass::salu,
     0,
     Type::none,
     {Type::b32, Type::b32, Type::b32}},
};

}  // namespace

OpTable salu_control_rows() { return {kRows, std::size(kRows)}; }

}  // namespace baton::emulator
