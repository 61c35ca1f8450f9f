#include "codegen/listing/decoder.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCExpr.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include "codegen/llvm_job.h"
#include "runtime/base/error.h"

namespace baton::codegen {

// The members are made in this order: each needs those above it.
struct Decoder::Machine {
  explicit Machine(std::string_view chip)
      : registers(target.createMCRegInfo(triple)),
        assembly(target.createMCAsmInfo(*registers, triple, options)),
        instructions(target.createMCInstrInfo()),
        subtarget(target.createMCSubtargetInfo(triple, chip, "")),
        context(triple, assembly.get(), registers.get(), subtarget.get()),
        disassembler(target.createMCDisassembler(*subtarget, context)),
        analysis(target.createMCInstrAnalysis(instructions.get())),
        printer(target.createMCInstPrinter(triple, 0, *assembly, *instructions, *registers)) {}

  const llvm::Target& target = amdgpu_target();
  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  llvm::MCContext context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  llvm::MCInst current;
};

Decoder::Decoder(std::string_view chip) : machine_(std::make_unique<Machine>(chip)) {}
Decoder::~Decoder() = default;

DecodedInstruction Decoder::decode(ByteView bytes, uint64_t address) {
  Machine& machine = *machine_;
  machine.current = llvm::MCInst();
  uint64_t size = 0;
  const auto status = machine.disassembler->getInstruction(
      machine.current, size, {bytes.data(), bytes.size()}, address, llvm::nulls());
  if (status != llvm::MCDisassembler::Success || size > bytes.size()) return {};
  DecodedInstruction decoded;
  decoded.size = static_cast<uint32_t>(size);
  uint64_t branch_target = 0;
  if (machine.analysis->evaluateBranch(machine.current, address, size, branch_target)) {
    decoded.branch_target = branch_target;
  }
  return decoded;
}

std::string Decoder::text(uint64_t address, const std::string& target_label) {
  Machine& machine = *machine_;
  if (!target_label.empty()) {
    const llvm::MCExpr* label = llvm::MCSymbolRefExpr::create(
        machine.context.getOrCreateSymbol(target_label), machine.context);
    const unsigned last = machine.current.getNumOperands() - 1;
    machine.current.getOperand(last) = llvm::MCOperand::createExpr(label);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  machine.printer->printInst(&machine.current, address, "", *machine.subtarget, stream);
  std::string line = llvm::StringRef(text).trim().str();
  for (char& character : line) {
    if (character == '\t' || character == '\n') character = ' ';
  }
  return line;
}

}  // namespace baton::codegen
