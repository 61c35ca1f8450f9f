// What can be proven about values without running the kernel.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace baton::ir {

/// Two constants that differ.
bool differ(mlir::Value a, mlir::Value b);

/// Proofs over one module that does not change meanwhile.
class ProvenValues {
 public:
  /// Whether a lane computes one number for both: one value, equal constants, or equal pure
  /// operations on such values. Two null values are the same.
  bool same(mlir::Value a, mlir::Value b);

  /// Whether every turn of `loop` computes the same number, or an inner loop's same numbers again.
  /// A null value is steady.
  bool steady(mlir::Value value, mlir::LoopLikeOpInterface loop);

 private:
  bool sameUncached(mlir::Value a, mlir::Value b);
  bool steadyUncached(mlir::Value value, mlir::LoopLikeOpInterface loop);

  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, bool> same_;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Operation*>, bool> steady_;
};

}  // namespace baton::ir
