// After its lowering an op of ours is illegal: a forgotten one is an error that names it.
#pragma once

#include "mlir/IR/Operation.h"

namespace baton::ir {

/// Fails, with a diagnostic at the op, when an op of one of the kinds is left under `root`.
template <class... Ops>
mlir::LogicalResult requireNone(mlir::Operation* root, llvm::StringRef pass) {
  mlir::WalkResult result = root->walk([&](mlir::Operation* op) {
    if (!mlir::isa<Ops...>(op)) return mlir::WalkResult::advance();
    op->emitOpError() << "was left behind by pass '" << pass << "'";
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(result.wasInterrupted());
}

}  // namespace baton::ir
