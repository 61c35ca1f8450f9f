#include "passes/pipeline.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {

void registerDialects(mlir::DialectRegistry& registry) {
  registry.insert<BatonDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::ROCDL::ROCDLDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  mlir::arith::registerConvertArithToLLVMInterface(registry);
  mlir::cf::registerConvertControlFlowToLLVMInterface(registry);
  mlir::registerConvertFuncToLLVMInterface(registry);
  mlir::registerConvertMathToLLVMInterface(registry);
  mlir::vector::registerConvertVectorToLLVMInterface(registry);
}

void buildPipeline(mlir::OpPassManager& manager) {
  // Checks see what the author wrote: they come first, so that an error names stage and line.
  manager.addPass(createCheckHandoffs());
  manager.addPass(createCheckSentinels());
  // Stamps take LDS, which the next check counts.
  manager.addPass(createStampStages());
  manager.addPass(createCheckLds());
  // Offsets before the hand-offs that use them.
  manager.addPass(createLayoutRegions());
  // Hand-offs become scoped memory, loops and barriers: before memory, kernel and control flow.
  manager.addPass(createLowerHandoffs());
  // While stages stand, and behind the hand-offs, which open buffers.
  manager.addPass(createSinkBuffers());
  manager.addPass(createRereadArguments());
  // Stages after hand-offs, whose names become scopes within the stage's.
  manager.addPass(createLowerStages());
  manager.addPass(createLowerLanes());
  manager.addPass(createLowerMatrix());
  manager.addPass(createLowerMemory());
  // A pattern that fails here fails the compile: what it did need not be undone, which costs time.
  manager.addPass(mlir::createSCFToControlFlowPass({.allowPatternRollback = false}));
  mlir::ConvertToLLVMPassOptions to_llvm;
  to_llvm.allowPatternRollback = false;
  manager.addPass(mlir::createConvertToLLVMPass(to_llvm));
  // rocdl's kernel attributes stand on llvm.func only: after the conversion.
  manager.addPass(createLowerKernel());
  manager.addPass(mlir::createReconcileUnrealizedCastsPass());
}

}  // namespace baton::ir
