#include "codegen/emit.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm_job.h"
#include "runtime/base/error.h"

namespace baton::codegen {
namespace {

using Buffer = llvm::SmallVector<char, 0>;

void run_back_end(LlvmJob& job, llvm::CodeGenFileType type, Buffer& output) {
  job.machine().Options.MCOptions.AsmVerbose = type == llvm::CodeGenFileType::AssemblyFile;
  bool unsupported = false;
  job.run("compile", [&] {
    llvm::raw_svector_ostream stream(output);
    llvm::legacy::PassManager passes;
    unsupported = job.machine().addPassesToEmitFile(passes, stream, nullptr, type,
                                                    /*DisableVerify=*/true);
    if (!unsupported) passes.run(*job.module());
  });
  BATON_CHECK(!unsupported, "the back end does not emit this kind of file");
}

}  // namespace

void optimise(LlvmJob& job) {
  job.run("optimise", [&] {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager call_graph;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&job.machine());
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(call_graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, call_graph, modules);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*job.module(), modules);
  });
}

Bytes emit_object(LlvmJob& job) {
  Buffer output;
  run_back_end(job, llvm::CodeGenFileType::ObjectFile, output);
  return {output.begin(), output.end()};
}

std::string emit_assembly(LlvmJob& job) {
  Buffer output;
  run_back_end(job, llvm::CodeGenFileType::AssemblyFile, output);
  return {output.begin(), output.end()};
}

}  // namespace baton::codegen
