// From: the function with baton.kernel, baton.thread_id, cta_id, barrier. To: rocdl's kernel
// attributes, ids and barriers. Precondition: hand-offs are lowered (they bring barriers).
#include "llvm/Support/FormatVariadic.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/lower/closed_door.h"

namespace baton::ir {
#define GEN_PASS_DEF_LOWERKERNEL
#include "passes/Passes.h.inc"

namespace {

template <class RocdlOp, class IdOp>
void lowerId(IdOp op) {
  mlir::OpBuilder b(op);
  auto range = mlir::LLVM::ConstantRangeAttr::get(b.getContext(), llvm::APInt(32, 0),
                                                  llvm::APInt(32, op.getCount()));
  op.replaceAllUsesWith(RocdlOp::create(b, op.getLoc(), b.getI32Type(), range).getResult());
  op.erase();
}

/// The fences order what the lanes of the workgroup see of each other; vmcnt is not waited for.
void lowerBarrier(BarrierOp op) {
  mlir::OpBuilder b(op);
  llvm::StringRef scope = "workgroup";
  mlir::LLVM::FenceOp::create(b, op.getLoc(), mlir::LLVM::AtomicOrdering::release, scope);
  mlir::ROCDL::SBarrierOp::create(b, op.getLoc());
  mlir::LLVM::FenceOp::create(b, op.getLoc(), mlir::LLVM::AtomicOrdering::acquire, scope);
  op.erase();
}

mlir::LogicalResult lowerFunction(mlir::ModuleOp module, mlir::LLVM::LLVMFuncOp kernel) {
  auto lanes = module->getAttrOfType<mlir::IntegerAttr>(kWorkgroupAttr);
  if (!lanes) return kernel.emitError() << "the module needs '" << kWorkgroupAttr << "'";
  mlir::Builder b(module.getContext());
  kernel->removeAttr(kKernelAttr);
  kernel->setAttr("rocdl.kernel", b.getUnitAttr());
  kernel->setAttr("rocdl.flat_work_group_size",
                  b.getStringAttr(llvm::formatv("{0},{0}", lanes.getInt()).str()));
  kernel->setAttr("rocdl.reqd_work_group_size",
                  b.getDenseI32ArrayAttr({static_cast<int32_t>(lanes.getInt()), 1, 1}));
  return mlir::success();
}

struct LowerKernelPass : impl::LowerKernelBase<LowerKernelPass> {
  void runOnOperation() override {
    llvm::SmallVector<mlir::Operation*> ops;
    getOperation()->walk([&](mlir::Operation* op) { ops.push_back(op); });
    for (mlir::Operation* op : ops) {
      if (auto thread = mlir::dyn_cast<ThreadIdOp>(op)) {
        lowerId<mlir::ROCDL::ThreadIdXOp>(thread);
      } else if (auto cta = mlir::dyn_cast<CtaIdOp>(op)) {
        lowerId<mlir::ROCDL::BlockIdXOp>(cta);
      } else if (auto barrier = mlir::dyn_cast<BarrierOp>(op)) {
        lowerBarrier(barrier);
      } else if (auto function = mlir::dyn_cast<mlir::LLVM::LLVMFuncOp>(op)) {
        if (!function->hasAttr(kKernelAttr)) continue;
        if (failed(lowerFunction(getOperation(), function))) return signalPassFailure();
      }
    }
    if (failed(requireNone<ThreadIdOp, CtaIdOp, BarrierOp>(getOperation(), getArgument()))) {
      signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace baton::ir
