// Checks LDS against the target, and constant accesses against their range. Changes nothing.
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/check/stage_error.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {
#define GEN_PASS_DEF_CHECKLDS
#include "passes/Passes.h.inc"

namespace {

mlir::LogicalResult checkTotal(mlir::ModuleOp module, const Target& target) {
  LdsOp last;
  int64_t end = 0;
  for (LdsOp lds : module.getOps<LdsOp>()) {
    auto lds_end = static_cast<int64_t>(lds.getOffset() + lds.getBytes());
    if (lds_end <= end) continue;
    end = lds_end;
    last = lds;
  }
  if (end <= target.lds_bytes) return mlir::success();
  return last.emitError() << "LDS takes " << end << " bytes up to the end of '" << last.getSymName()
                          << "', " << target.chip << " has " << target.lds_bytes;
}

template <class Access>
mlir::LogicalResult checkAccess(Access access, mlir::Type type) {
  llvm::APInt offset;
  if (!mlir::matchPattern(access.getOffset(), mlir::m_ConstantInt(&offset))) return mlir::success();
  LdsOp lds = lookupLds(access, access.getLdsAttr());
  int64_t first = offset.getSExtValue(), end = first + bytesOf(type);
  if (first >= 0 && end <= static_cast<int64_t>(lds.getBytes())) return mlir::success();
  return stageError(access) << "accesses bytes " << first << " .. " << end - 1 << " of LDS range '"
                            << lds.getSymName() << "', which has "
                            << static_cast<int64_t>(lds.getBytes());
}

struct CheckLdsPass : impl::CheckLdsBase<CheckLdsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    const Target* target = targetOf(getOperation());
    if (!target || failed(checkTotal(getOperation(), *target))) return signalPassFailure();
    mlir::WalkResult result = getOperation()->walk([&](mlir::Operation* op) {
      mlir::LogicalResult checked = mlir::success();
      if (auto load = mlir::dyn_cast<LdsLoadOp>(op)) {
        checked = checkAccess(load, load.getValue().getType());
      } else if (auto store = mlir::dyn_cast<LdsStoreOp>(op)) {
        checked = checkAccess(store, store.getValue().getType());
      }
      return failed(checked) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    });
    if (result.wasInterrupted()) signalPassFailure();
  }
};

}  // namespace
}  // namespace baton::ir
