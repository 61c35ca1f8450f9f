// A code object read back for a reviewer: its instructions with their source, stages and hand-offs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/listing/instruction_class.h"
#include "runtime/base/bytes.h"
#include "runtime/object/elf_image.h"
#include "runtime/object/occupancy.h"

namespace baton {

namespace comgr {
class Library;
}

struct ListedInstruction {
  uint64_t address;
  uint32_t size;  ///< bytes
  InstructionClass kind;
  std::string text;   ///< "s_cbranch_execnz L2"
  int label = -1;     ///< L0, L1, ...: something branches here
  int file = -1;      ///< index into Listing::files
  uint32_t line = 0;  ///< 0: the compiler made it, no line of the author's
  int stage = -1;     ///< index into Listing::stages
  int handoff = -1;   ///< index into Listing::handoffs
};

struct ListedFile {
  std::string name;
  std::string text;  ///< embedded in the code object; may be empty
};

/// One kernel of a code object.
struct Listing {
  std::string chip;
  std::string decoder;  ///< who read the instructions: "comgr 2.4 (...)"; empty: our own LLVM
  int code_object_version = 0;
  Kernel kernel{};
  Occupancy occupancy{};
  std::vector<std::string> stages;    ///< in the order of their first instruction
  std::vector<std::string> handoffs;  ///< "put ar"
  std::vector<ListedFile> files;
  std::vector<ListedInstruction> instructions;
  Bytes code;                 ///< the kernel's instructions
  Bytes padding;              ///< what follows them in their section, for the instruction prefetch
  std::string metadata_yaml;  ///< the metadata note
};

/// Disassembles `kernel` (empty: the only one) of a code object for any chip that Baton knows.
/// Throws Error (user), beginning with `source` (the path or key the bytes came from), for bytes
/// that are no code object, for an unknown kernel and for a word that is no instruction. With
/// `comgr` that library reads the instructions: Error (environment) when it does not know the chip.
Listing disassemble(ByteView code_object, std::string_view source, std::string_view kernel = {},
                    const comgr::Library* comgr = nullptr);

/// From the registers that the descriptor makes the hardware allocate, which may be more than the
/// code uses.
Occupancy occupancy_of(const Kernel& kernel, const Target& target, uint32_t workgroup_lanes);

/// How many instructions of each class; indexed by InstructionClass.
using ClassCounts = std::array<uint64_t, kInstructionClasses>;

/// The counts of stage `stage`, or of the instructions outside of all stages for -1.
ClassCounts count_classes(const Listing& listing, int stage);

struct PrintOptions {
  std::string key;    ///< for the header; may be empty
  std::string stage;  ///< print this stage only; empty: all
  bool source = false;
  bool stats = false;  ///< the table of counts at the end
  bool colour = false;
};

/// The annotated listing. Throws Error (user) that lists the stages when there is none of that
/// name.
std::string print_listing(const Listing& listing, const PrintOptions& options);

/// The whole kernel (code, descriptor and metadata) as assembly that
/// `llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=CHIP -filetype=obj` turns into the same bytes.
std::string print_assembly(const Listing& listing);

}  // namespace baton
