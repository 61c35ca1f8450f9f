// A code object, decoded once: every instruction bound to its handler.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/emulator/debug_info.h"
#include "runtime/emulator/instruction.h"
#include "runtime/object/elf_image.h"

namespace baton::emulator {

class HandlerTable;

/// What is needed of an instruction only when somebody asks.
struct InstructionInfo {
  uint64_t vaddr = 0;  ///< in the code object
  std::string text;    ///< as LLVM prints it
  const OpRow* row = nullptr;
};

class Program {
 public:
  /// `image` must outlive nothing: what is needed of it is copied. Throws Error (environment) when
  /// LLVM cannot decode for the chip.
  Program(const ElfImage& image, const HandlerTable& handlers);

  const Instruction* code() const { return code_.data(); }
  size_t size() const { return code_.size(); }
  const InstructionInfo& info(size_t index) const { return info_[index]; }
  static constexpr uint32_t kNowhere = ~0u;
  /// The instruction that starts at a code object's address, or kNowhere.
  uint32_t index_of(uint64_t vaddr) const;
  const std::string& chip() const { return chip_; }
  /// One more than the highest VGPR and AGPR that any instruction names.
  uint32_t vgpr_rows() const { return rows_[0]; }
  uint32_t agpr_rows() const { return rows_[1]; }

  /// "attn_post.cpp:41" from the DWARF line table; empty where there is none.
  std::string source_line(size_t index) const;
  /// The names of the stages that the code has; the first is empty and stands for no stage. Read
  /// from the debug information when first asked for.
  const std::vector<std::string>& stages() const { return origins().stages; }
  /// Of an instruction, as an index into stages().
  uint16_t stage_of(size_t index) const { return origins().stage_of[index]; }
  /// "put ar" where the instruction is part of a hand-off, else empty.
  const std::string& handoff(size_t index) const {
    return origins().handoffs[origins().handoff_of[index]];
  }
  /// The instruction's bytes and those behind it.
  ByteView bytes_of(size_t index) const;
  /// The symbol that holds the instruction.
  std::string function(size_t index) const;

 private:
  struct Symbol {
    uint64_t vaddr, size;
    std::string name;
  };

  /// By instruction.
  struct Origins {
    std::vector<std::string> stages = {""}, handoffs = {""};
    std::vector<uint16_t> stage_of, handoff_of;
  };
  const Origins& origins() const;
  void read_origins() const;

  void decode_segment(const ElfSegment& segment, const HandlerTable& handlers);
  void bind(Instruction& in, InstructionInfo& info, ByteView bytes, const HandlerTable& handlers);
  void resolve_branches();
  void count_rows();

  std::string chip_;
  std::vector<uint8_t> file_;                              ///< for the debug information
  std::vector<std::pair<uint64_t, uint64_t>> code_parts_;  ///< vaddr, place in file_
  std::vector<Instruction> code_;
  std::vector<InstructionInfo> info_;
  std::vector<uint32_t> index_;  ///< by dword from code_vaddr_
  uint32_t rows_[2] = {1, 0};
  uint64_t code_vaddr_ = 0;
  std::vector<Symbol> symbols_;

  mutable std::once_flag origins_read_;
  mutable Origins origins_;
  mutable std::mutex debug_mutex_;
  mutable std::unique_ptr<DebugInfo> debug_;  ///< made when first asked for
};

}  // namespace baton::emulator
