#include "codegen/translate.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Export.h>

#include <algorithm>

#include "codegen/llvm_job.h"
#include "runtime/base/error.h"
#include "runtime/target/target.h"

namespace baton::codegen {
namespace {

/// The DWARF line table then carries the text itself: a code object is read beside its source on a
/// machine that has no source.
void embed_sources(llvm::Module& module, const std::vector<SourceText>& sources) {
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  const auto embed = [&](llvm::MDNode& node) {
    if (node.getNumOperands() == 0) return;
    const auto* file = llvm::dyn_cast_or_null<llvm::DIFile>(node.getOperand(0).get());
    if (file == nullptr || file->getSource()) return;
    const auto found = std::ranges::find(sources, file->getFilename().str(), &SourceText::file);
    if (found == sources.end()) return;
    node.replaceOperandWith(
        0, llvm::DIFile::get(module.getContext(), file->getFilename(), file->getDirectory(),
                             file->getChecksum(), llvm::StringRef(found->text)));
  };
  for (llvm::DICompileUnit* unit : finder.compile_units()) embed(*unit);
  for (llvm::DISubprogram* subprogram : finder.subprograms()) embed(*subprogram);
  for (llvm::DIScope* scope : finder.scopes()) embed(*scope);
}

/// The waves a SIMD holds when one workgroup is on the CU: what a persistent kernel may count on,
/// and so what it may spend registers for.
int64_t waves_per_simd(const Record& draft, const Target& target) {
  const int64_t waves =
      (draft.resources.workgroup_lanes + target.wave_lanes - 1) / target.wave_lanes;
  return (waves + target.simds_per_cu - 1) / target.simds_per_cu;
}

void describe_kernel(llvm::Function& kernel, const Record& draft, const Target& target) {
  llvm::LLVMContext& context = kernel.getContext();
  const auto lanes = static_cast<uint32_t>(draft.resources.workgroup_lanes);
  const int64_t waves = waves_per_simd(draft, target);
  kernel.addFnAttr("target-cpu", target.chip);
  kernel.addFnAttr("amdgpu-flat-work-group-size", fmt::format("{},{}", lanes, lanes));
  kernel.addFnAttr("uniform-work-group-size", "true");
  if (!kernel.hasFnAttribute("amdgpu-waves-per-eu")) {
    kernel.addFnAttr("amdgpu-waves-per-eu", fmt::format("{},{}", waves, waves));
  }
  llvm::Type* const i32 = llvm::Type::getInt32Ty(context);
  const auto constant = [&](uint32_t value) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32, value));
  };
  kernel.setMetadata("reqd_work_group_size",
                     llvm::MDNode::get(context, {constant(lanes), constant(1), constant(1)}));
}

void set_flags(llvm::Module& module) {
  module.setModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500);
  module.setModuleFlag(llvm::Module::Max, "Dwarf Version", 5);
  module.setModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

std::unique_ptr<llvm::Module> to_llvm(mlir::ModuleOp module, LlvmJob& job,
                                      const std::string& name) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic& diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      job.reports().errors.push_back(diagnostic.str());
    }
    return mlir::success();
  });
  return mlir::translateModuleToLLVMIR(module, job.context(), name, /*disableVerification=*/true);
}

}  // namespace

void translate(mlir::ModuleOp module, const Record& draft, const std::vector<SourceText>& sources,
               LlvmJob& job) {
  job.run("translate", [&] { job.module() = to_llvm(module, job, draft.kernel); });
  BATON_CHECK(job.module() != nullptr, "the translation to LLVM IR failed and said nothing");
  llvm::Module& ir = *job.module();
  llvm::Function* const kernel = ir.getFunction(draft.kernel);
  BATON_CHECK(kernel != nullptr && !kernel->isDeclaration());
  ir.setSourceFileName(draft.kernel);
  ir.setTargetTriple(job.machine().getTargetTriple());
  ir.setDataLayout(job.machine().createDataLayout());
  set_flags(ir);
  describe_kernel(*kernel, draft, find_target(draft.chip));
  embed_sources(ir, sources);
  // A build that spells its file names another way would lose the text, and change the bytes.
  if (const llvm::DISubprogram* where = kernel->getSubprogram(); where && !sources.empty()) {
    BATON_CHECK(where->getFile()->getSource().has_value(),
                "no text of the kernel's file " + where->getFilename().str());
  }
  job.run("verify", [&] {
    std::string& text = job.reports().errors.emplace_back();
    llvm::raw_string_ostream stream(text);
    if (!llvm::verifyModule(ir, &stream)) job.reports().errors.pop_back();
  });
}

}  // namespace baton::codegen
