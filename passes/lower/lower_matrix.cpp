// From: baton.mfma. To: rocdl's MFMA of the target. Precondition: none.
#include "mlir/IR/PatternMatch.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/lower/closed_door.h"

namespace baton::ir {
#define GEN_PASS_DEF_LOWERMATRIX
#include "passes/Passes.h.inc"

namespace {

/// Four consecutive k of a lane, as the _1k instructions take them.
mlir::Value kSlice(mlir::OpBuilder& b, mlir::Location loc, mlir::Value operand, int64_t first) {
  const int64_t mask[] = {first, first + 1, first + 2, first + 3};
  mlir::Value four = mlir::vector::ShuffleOp::create(b, loc, operand, operand, mask);
  return mlir::vector::BitCastOp::create(b, loc, mlir::VectorType::get(4, b.getI16Type()), four);
}

mlir::Value lowerStep(mlir::OpBuilder& b, MfmaOp op, const MfmaShape& shape) {
  mlir::Location loc = op.getLoc();
  mlir::Type result = op.getResult().getType();
  mlir::IntegerAttr none = b.getI32IntegerAttr(0);  // cbsz, abid, blgp: no broadcast, no swizzle
  mlir::Value zero = mlir::arith::ConstantOp::create(b, loc, none);
  if (shape.k_lane == 8) {
    return mlir::ROCDL::mfma_f32_16x16x32_bf16::create(
        b, loc, result, mlir::ValueRange{op.getA(), op.getB(), op.getC(), zero, zero, zero});
  }
  mlir::Value sum = op.getC();
  for (int64_t first = 0; first < 8; first += shape.k_lane) {
    sum = mlir::ROCDL::mfma_f32_16x16x16bf16_1k::create(
        b, loc, result,
        mlir::ValueRange{kSlice(b, loc, op.getA(), first), kSlice(b, loc, op.getB(), first), sum,
                         zero, zero, zero});
  }
  return sum;
}

struct LowerMatrixPass : impl::LowerMatrixBase<LowerMatrixPass> {
  void runOnOperation() override {
    const Target* target = targetOf(getOperation());
    if (!target) return signalPassFailure();
    llvm::SmallVector<MfmaOp> steps;
    getOperation()->walk([&](MfmaOp op) { steps.push_back(op); });
    for (MfmaOp op : steps) {
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(lowerStep(b, op, target->bf16_mfma));
      op.erase();
    }
    if (failed(requireNone<MfmaOp>(getOperation(), getArgument()))) signalPassFailure();
  }
};

}  // namespace
}  // namespace baton::ir
