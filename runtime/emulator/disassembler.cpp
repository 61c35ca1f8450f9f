#include "runtime/emulator/disassembler.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <mutex>

#include "runtime/base/error.h"

namespace baton::emulator {

struct Disassembler::Impl {
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asm_info;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

Disassembler::Disassembler(std::string_view chip) : impl_(std::make_unique<Impl>()) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!target) {
    throw Error(ErrorKind::environment, "this LLVM has no AMDGPU back end: " + why,
                "install Debian's llvm-22 packages");
  }
  const std::string cpu(chip);
  Impl& i = *impl_;
  i.subtarget.reset(target->createMCSubtargetInfo(triple, cpu, ""));
  if (!i.subtarget || !i.subtarget->isCPUStringValid(cpu)) {
    throw Error(ErrorKind::user, fmt::format("LLVM knows no AMDGPU chip '{}'", chip));
  }
  i.registers.reset(target->createMCRegInfo(triple));
  i.asm_info.reset(target->createMCAsmInfo(*i.registers, triple, llvm::MCTargetOptions()));
  i.instructions.reset(target->createMCInstrInfo());
  i.context = std::make_unique<llvm::MCContext>(triple, i.asm_info.get(), i.registers.get(),
                                                i.subtarget.get());
  i.disassembler.reset(target->createMCDisassembler(*i.subtarget, *i.context));
  i.printer.reset(
      target->createMCInstPrinter(triple, 0, *i.asm_info, *i.instructions, *i.registers));
  BATON_CHECK(i.disassembler && i.printer);
}

Disassembler::~Disassembler() = default;

uint32_t Disassembler::decode(ByteView bytes, uint64_t address, std::string& text) const {
  text.clear();
  llvm::MCInst inst;
  uint64_t size = 0;
  const llvm::ArrayRef<uint8_t> view(bytes.data(), bytes.size());
  if (impl_->disassembler->getInstruction(inst, size, view, address, llvm::nulls()) !=
      llvm::MCDisassembler::Success) {
    return 0;
  }
  llvm::raw_string_ostream out(text);
  impl_->printer->printInst(&inst, address, "", *impl_->subtarget, out);
  const size_t first = text.find_first_not_of(" \t");
  text.erase(0, first);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
  return static_cast<uint32_t>(size);
}

}  // namespace baton::emulator
