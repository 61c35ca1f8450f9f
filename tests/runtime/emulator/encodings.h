// Every instruction that LLVM decodes for a chip, found by trying all opcode fields of all of
// gfx9's encodings: nothing is read from the emulator, and no private opcode number of LLVM's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::tests {

/// The encodings, as the ISA documents name them.
enum class Encoding : uint8_t {
  sop1,
  sop2,
  sopc,
  sopk,
  sopp,
  smem,
  vop1,
  vop2,
  vopc,
  vop3,
  vop3p,
  ds,
  flat,
  global,
  scratch,
  mubuf,
  mtbuf,
  other,
};

struct EncodedInstruction {
  Encoding encoding = Encoding::other;
  std::array<uint32_t, 4> words = {};
  uint32_t size = 0;     ///< bytes
  std::string text;      ///< as LLVM prints it
  std::string mnemonic;  ///< with its encoding's suffix
  std::string name;      ///< without it
  /// What LLVM says that it may write: registers of 32 bits by their assembly names ("v64", "a3",
  /// "s16", "vcc_lo", "exec_hi", "m0", "scc").
  std::vector<std::string> writes;
  bool may_load = false, may_store = false;
};

/// In a fixed order; every form (DPP, SDWA, returning atomic, load to LDS) of an opcode once.
/// Registers: results from v64 and s16 on; sources v0, v8, v32 and s2, s4, s8; an address is in
/// v[0:1] or s[4:5], a buffer in s[4:7].
std::vector<EncodedInstruction> all_instructions(std::string_view chip);

}  // namespace baton::tests
