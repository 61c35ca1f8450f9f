// What `check_uninit` has to know of each static instruction.
#pragma once

#include <vector>

#include "runtime/emulator/disassembler.h"
#include "runtime/emulator/lds_shape.h"
#include "runtime/emulator/program.h"

namespace baton::emulator {

/// How undefined bits pass through an instruction.
enum class UninitRule : uint8_t {
  none,
  compute,  ///< registers to registers
  branch,   ///< decides by SCC or VCC, or jumps to an address
  smem,     ///< scalar memory
  load,     ///< memory to registers
  store,    ///< registers to memory
  atomic,   ///< memory and registers
  lds,      ///< LDS to registers or back
  lds_atomic,
  mode,  ///< a state of the wave is set
};

struct UninitInstruction {
  UninitRule rule = UninitRule::none;
  bool compare = false;       ///< one undefined bit makes the whole answer undefined
  bool cross_lane = false;    ///< a lane's result may come from another lane
  bool whole_result = false;  ///< every lane of EXEC gets all bits of its result
  bool to_lds = false;        ///< a load straight to LDS, at M0's offset
  uint32_t data_mask = ~0u;   ///< bits of a word that a store takes, or a load writes
  int data = 0;               ///< which source a store or atomic takes its data from
  LdsShape lds;
  InstructionRegisters registers;
};

class UninitTable {
 public:
  explicit UninitTable(const Program& program);
  const UninitInstruction& operator[](size_t index) const { return rows_[index]; }

 private:
  std::vector<UninitInstruction> rows_;
};

}  // namespace baton::emulator
