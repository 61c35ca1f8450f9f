// mlir-opt with Baton's dialect and passes: for tests, and to replay one pass on a dumped module.
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/pipeline.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  baton::ir::registerDialects(registry);
  baton::ir::registerBatonPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::PassPipelineRegistration<> pipeline("baton-pipeline", "All passes, as a compile runs them",
                                            baton::ir::buildPipeline);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Baton's optimizer driver\n", registry));
}
