// The one ordered list of passes, from a traced module to the llvm and rocdl dialects.
#pragma once

namespace mlir {
class DialectRegistry;
class OpPassManager;
}  // namespace mlir

namespace baton::ir {

/// Every dialect that a traced module and its lowerings use, and the conversion interfaces.
void registerDialects(mlir::DialectRegistry& registry);

/// Appends the passes that turn a traced module into one that codegen translates.
void buildPipeline(mlir::OpPassManager& manager);

}  // namespace baton::ir
