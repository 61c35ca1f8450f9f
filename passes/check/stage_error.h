// Diagnostics of the checks: they name the stage; the location names the source line.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {

inline std::string stagePrefix(mlir::Operation* op) {
  llvm::StringRef stage = stageOf(op);
  return stage.empty() ? "outside the stages: " : ("stage '" + stage + "': ").str();
}

inline mlir::InFlightDiagnostic stageError(mlir::Operation* op) {
  return op->emitError() << stagePrefix(op);
}

inline mlir::InFlightDiagnostic stageRemark(mlir::Operation* op) {
  return op->emitRemark() << stagePrefix(op);
}

}  // namespace baton::ir
