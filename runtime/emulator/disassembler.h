// LLVM's MC layer: bytes to the text of one instruction. No LLVM header shows here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/emulator/instruction.h"

namespace baton::emulator {

/// Registers that an instruction reads and writes, by LLVM's description of it: its operands and
/// those that it implies (VCC, M0, EXEC). An operand that is both (v_fmac's addend) is in both.
struct InstructionRegisters {
  std::vector<Operand> reads, writes;  ///< kinds vgpr, agpr and sgpr only
  bool reads_scc = false, writes_scc = false;
};

class Disassembler {
 public:
  /// Throws Error (environment) when this LLVM lacks the AMDGPU back end, Error (user) when it does
  /// not know the chip.
  explicit Disassembler(std::string_view chip);
  ~Disassembler();

  /// The instruction at the start of `bytes`: its size, and `text` as LLVM prints it (mnemonic, one
  /// space or tab, operands). 0 when the bytes are no instruction of the chip.
  uint32_t decode(ByteView bytes, uint64_t address, std::string& text) const;

  /// Of the instruction at the start of `bytes`; empty when they are none.
  InstructionRegisters registers(ByteView bytes, uint64_t address) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::emulator
