// LLVM's printed form of an instruction, taken apart. The assembly syntax is the part of LLVM's
// AMDGPU back end that is documented; its operand indices are not public.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulator/instruction.h"

namespace baton::emulator {

/// "v_add_f32_e64 v0, -v1, |s2| clamp mul:2" in pieces; the views point into the text.
struct InstructionText {
  std::string_view mnemonic;                ///< with its encoding's suffix
  std::vector<std::string_view> operands;   ///< "v0", "-v1", "|s2|"
  std::vector<std::string_view> modifiers;  ///< "clamp", "mul:2"
};

InstructionText split_instruction(std::string_view text);

/// The mnemonic without _e32, _e64, _dpp, _sdwa.
std::string_view base_name(std::string_view mnemonic);

/// A register or constant with its modifiers. Constants are read as `type`. `simm16` stands for
/// operands that are spelled symbolically (hwreg, sendmsg). Throws Error (failed_check) on what it
/// does not know.
Operand parse_operand(std::string_view text, Type type, uint32_t simm16);

/// Reads the modifiers that are spelled in text into the instruction.
void apply_modifiers(const InstructionText& text, Instruction& in);

}  // namespace baton::emulator
