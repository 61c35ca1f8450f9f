#include "runtime/emulator/uninit_table.h"

#include <algorithm>
#include <string_view>

namespace baton::emulator {
namespace {

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

UninitRule rule_of(const OpRow& row) {
  const std::string_view name = row.name;
  switch (row.op_class) {
    case OpClass::salu:
      return name.starts_with("s_setreg") || name.starts_with("s_set_gpr") ? UninitRule::mode
             : name.starts_with("s_setpc") || name.starts_with("s_swappc") ? UninitRule::branch
                                                                           : UninitRule::compute;
    case OpClass::valu:
    case OpClass::mfma:
      return UninitRule::compute;
    case OpClass::smem:
      return UninitRule::smem;
    case OpClass::vmem_load:
      return UninitRule::load;
    case OpClass::vmem_store:
      return UninitRule::store;
    case OpClass::atomic:
      return UninitRule::atomic;
    case OpClass::branch:
      return UninitRule::branch;
    case OpClass::lds: {
      const bool moves_lanes = has(name, "permute") || has(name, "swizzle");
      if (moves_lanes) return UninitRule::compute;
      if (name == "ds_nop") return UninitRule::none;
      return name.starts_with("ds_read") || name.starts_with("ds_write") ? UninitRule::lds
                                                                         : UninitRule::lds_atomic;
    }
    default:
      return UninitRule::none;
  }
}

/// The bits of one word that a load or store of less than a word touches.
uint32_t data_mask_of(std::string_view name, bool store) {
  const bool byte = has(name, "byte"), half = has(name, "short");
  if (!byte && !half) return ~0u;
  if (has(name, "d16_hi")) return store && byte ? 0x00ff0000 : 0xffff0000;
  if (has(name, "d16")) return 0x0000ffff;
  return !store ? ~0u : byte ? 0x000000ff : 0x0000ffff;
}

UninitInstruction describe(const Program& program, size_t index) {
  UninitInstruction u;
  const OpRow* row = program.info(index).row;
  if (!row) return u;
  const Instruction& in = program.code()[index];
  const std::string_view name = row->name;
  u.rule = rule_of(*row);
  u.compare = name.starts_with("v_cmp") || name.starts_with("s_cmp");
  u.cross_lane = row->op_class == OpClass::mfma || row->op_class == OpClass::lds ||
                 (in.flags & kDpp) || has(name, "lane");
  u.whole_result = (in.flags & kPlainResult) && !u.cross_lane;
  u.to_lds = row->op_class == OpClass::vmem_load && ((in.flags & kLds) || has(name, "_lds_"));
  u.data_mask = data_mask_of(name, row->op_class == OpClass::vmem_store);
  u.data = name.starts_with("buffer") ? 0 : 1;
  u.lds = lds_shape(in);
  return u;
}

}  // namespace

UninitTable::UninitTable(const Program& program) {
  const Disassembler disassembler(program.chip());
  rows_.reserve(program.size());
  for (size_t i = 0; i < program.size(); ++i) {
    UninitInstruction& u = rows_.emplace_back(describe(program, i));
    u.registers = disassembler.registers(program.bytes_of(i), program.info(i).vaddr);
  }
}

}  // namespace baton::emulator
