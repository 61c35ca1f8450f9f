#include "passes/check/proven_values.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {

using mlir::Operation;
using mlir::Value;

namespace {

/// What a stage yields instead of its result.
Value throughStages(Value value) {
  while (value) {
    auto stage = value.getDefiningOp<StageOp>();
    if (!stage) break;
    const unsigned number = mlir::cast<mlir::OpResult>(value).getResultNumber();
    value = stage.getBody().front().getTerminator()->getOperand(number);
  }
  return value;
}

/// An operation whose results follow from its operands alone.
bool isFunction(Operation* op) { return op && op->getNumRegions() == 0 && mlir::isPure(op); }

}  // namespace

bool differ(Value a, Value b) {
  llvm::APInt left, right;
  return a && b && a.getType() == b.getType() &&
         mlir::matchPattern(a, mlir::m_ConstantInt(&left)) &&
         mlir::matchPattern(b, mlir::m_ConstantInt(&right)) && left != right;
}

bool ProvenValues::same(Value a, Value b) {
  a = throughStages(a);
  b = throughStages(b);
  if (a == b) return true;
  if (!a || !b) return false;
  const auto known = same_.find({a, b});
  if (known != same_.end()) return known->second;
  const bool result = sameUncached(a, b);
  same_[{a, b}] = result;
  return result;
}

bool ProvenValues::sameUncached(Value a, Value b) {
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  if (!isFunction(left) || !isFunction(right)) return false;
  if (mlir::cast<mlir::OpResult>(a).getResultNumber() !=
      mlir::cast<mlir::OpResult>(b).getResultNumber()) {
    return false;
  }
  return mlir::OperationEquivalence::isEquivalentTo(
      left, right, [&](Value x, Value y) { return mlir::success(same(x, y)); },
      /*markEquivalent=*/nullptr, mlir::OperationEquivalence::IgnoreLocations);
}

bool ProvenValues::steady(Value value, mlir::LoopLikeOpInterface loop) {
  value = throughStages(value);
  if (!value || loop.isDefinedOutsideOfLoop(value)) return true;
  const auto known = steady_.find({value, loop.getOperation()});
  if (known != steady_.end()) return known->second;
  const bool result = steadyUncached(value, loop);
  steady_[{value, loop.getOperation()}] = result;
  return result;
}

bool ProvenValues::steadyUncached(Value value, mlir::LoopLikeOpInterface loop) {
  if (Operation* op = value.getDefiningOp()) {
    return isFunction(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return steady(operand, loop); });
  }
  // The index of an inner loop takes the same numbers on every turn when its bounds do.
  auto inner = mlir::dyn_cast<mlir::scf::ForOp>(value.getParentBlock()->getParentOp());
  return inner && inner != loop && value == inner.getInductionVar() &&
         steady(inner.getLowerBound(), loop) && steady(inner.getUpperBound(), loop) &&
         steady(inner.getStep(), loop);
}

}  // namespace baton::ir
