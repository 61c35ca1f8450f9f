#include "codegen/llvm_job.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <csetjmp>
#include <cstdio>
#include <mutex>

#include "runtime/base/error.h"
#include "runtime/target/target.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
void LLVMInitializeAMDGPUDisassembler();
}

namespace baton::codegen {
namespace {

struct FatalErrorTrap {
  std::jmp_buf back;
  std::string* reason;
};

thread_local FatalErrorTrap* open_trap = nullptr;

/// LLVM ends the process when this returns. Outside of our phases that is LLVM's own contract, and
/// the message is the handler's duty.
void on_fatal_error(void*, const char* reason, bool) {
  if (FatalErrorTrap* trap = open_trap) {
    *trap->reason = reason;
    std::longjmp(trap->back, 1);
  }
  std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
}

/// Errors, warnings and the backend's resource remark; LLVM prints nothing.
class Collector : public llvm::DiagnosticHandler {
 public:
  explicit Collector(LlvmReports& reports) : reports_(reports) {}

  bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override {
    return pass == "kernel-resource-usage";
  }
  bool isMissedOptRemarkEnabled(llvm::StringRef) const override { return false; }
  bool isPassedOptRemarkEnabled(llvm::StringRef) const override { return false; }
  bool isAnyRemarkEnabled() const override { return true; }

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (const auto* remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info)) {
      for (const auto& argument : remark->getArgs()) {
        if (argument.Key != "String") reports_.resources[argument.Key] = argument.Val;
      }
      return true;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    if (info.getSeverity() == llvm::DS_Error) reports_.errors.push_back(std::move(text));
    if (info.getSeverity() == llvm::DS_Warning) reports_.warnings.push_back(std::move(text));
    return true;
  }

 private:
  LlvmReports& reports_;
};

const llvm::Triple& amdhsa_triple() {
  static const llvm::Triple triple("amdgcn-amd-amdhsa");
  return triple;
}

const llvm::Target* register_amdgpu() {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMInitializeAMDGPUAsmParser();
  LLVMInitializeAMDGPUDisassembler();
  llvm::install_fatal_error_handler(on_fatal_error);
  std::string reason;
  return llvm::TargetRegistry::lookupTarget(amdhsa_triple(), reason);
}

}  // namespace

const llvm::Target& amdgpu_target() {
  static const llvm::Target* const target = register_amdgpu();
  BATON_CHECK(target != nullptr, "LLVM was built without its AMDGPU target");
  return *target;
}

bool survives_fatal_error(llvm::function_ref<void()> work, std::string& reason) {
  amdgpu_target();
  FatalErrorTrap trap{.back = {}, .reason = &reason};
  FatalErrorTrap* const outer = open_trap;
  open_trap = &trap;
  if (setjmp(trap.back) == 0) {
    work();
    open_trap = outer;
    return true;
  }
  open_trap = outer;
  return false;
}

LlvmJob::LlvmJob(std::string_view chip)
    : reports_(std::make_unique<LlvmReports>()), context_(std::make_unique<llvm::LLVMContext>()) {
  const Target& known = find_target(chip);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // a * b + c rounds twice unless written fma
  machine_.reset(amdgpu_target().createTargetMachine(amdhsa_triple(), known.chip, "", options,
                                                     llvm::Reloc::PIC_, std::nullopt,
                                                     llvm::CodeGenOptLevel::Aggressive));
  BATON_CHECK(machine_ != nullptr, fmt::format("LLVM made no target machine for {}", chip));
  context_->setDiagnosticHandler(std::make_unique<Collector>(*reports_), true);
}

LlvmJob::~LlvmJob() = default;

void LlvmJob::run(std::string_view phase, llvm::function_ref<void()> work) {
  std::string reason;
  const bool survived = survives_fatal_error(work, reason);
  if (!survived) {
    (void)module_.release();
    (void)machine_.release();
    (void)context_.release();
    (void)reports_.release();
    throw Error(ErrorKind::failed_check,
                fmt::format("LLVM gave up while it tried to {} the kernel: {}", phase, reason),
                "the kernel uses something that the chip or its backend does not have");
  }
  if (!reports_->errors.empty()) {
    throw Error(ErrorKind::user,
                fmt::format("LLVM could not {} the kernel: {}", phase, reports_->errors.front()));
  }
}

}  // namespace baton::codegen
