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
namespace {

// The members are made in this order: each needs those above it.
class LlvmDecoder : public Decoder {
 public:
  explicit LlvmDecoder(std::string_view chip)
      : registers_(target_.createMCRegInfo(triple_)),
        assembly_(target_.createMCAsmInfo(*registers_, triple_, options_)),
        instructions_(target_.createMCInstrInfo()),
        subtarget_(target_.createMCSubtargetInfo(triple_, chip, "")),
        context_(triple_, assembly_.get(), registers_.get(), subtarget_.get()),
        disassembler_(target_.createMCDisassembler(*subtarget_, context_)),
        analysis_(target_.createMCInstrAnalysis(instructions_.get())),
        printer_(target_.createMCInstPrinter(triple_, 0, *assembly_, *instructions_, *registers_)) {
  }

  DecodedInstruction decode(ByteView bytes, uint64_t address) override;
  std::string text(uint64_t address, const std::string& target_label) override;

 private:
  const llvm::Target& target_ = amdgpu_target();
  llvm::Triple triple_{"amdgcn-amd-amdhsa"};
  llvm::MCTargetOptions options_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  llvm::MCContext context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
  llvm::MCInst current_;
};

DecodedInstruction LlvmDecoder::decode(ByteView bytes, uint64_t address) {
  current_ = llvm::MCInst();
  uint64_t size = 0;
  const auto status = disassembler_->getInstruction(current_, size, {bytes.data(), bytes.size()},
                                                    address, llvm::nulls());
  if (status != llvm::MCDisassembler::Success || size > bytes.size()) return {};
  DecodedInstruction decoded;
  decoded.size = static_cast<uint32_t>(size);
  uint64_t branch_target = 0;
  if (analysis_->evaluateBranch(current_, address, size, branch_target)) {
    decoded.branch_target = branch_target;
  }
  return decoded;
}

std::string LlvmDecoder::text(uint64_t address, const std::string& target_label) {
  if (!target_label.empty()) {
    const llvm::MCExpr* label =
        llvm::MCSymbolRefExpr::create(context_.getOrCreateSymbol(target_label), context_);
    const unsigned last = current_.getNumOperands() - 1;
    current_.getOperand(last) = llvm::MCOperand::createExpr(label);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  printer_->printInst(&current_, address, "", *subtarget_, stream);
  return one_line(text);
}

}  // namespace

std::unique_ptr<Decoder> make_llvm_decoder(std::string_view chip) {
  return std::make_unique<LlvmDecoder>(chip);
}

std::string one_line(std::string_view printed) {
  std::string line = llvm::StringRef(printed).trim().str();
  for (char& character : line) {
    if (character == '\t' || character == '\n') character = ' ';
  }
  return line;
}

}  // namespace baton::codegen
