// From: baton.reread_arguments. To: loads from the kernarg segment. Precondition: hand-offs are
// lowered, and buffers stand in the stages that use them.
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"
#include "runtime/object/record.h"

namespace baton::ir {
#define GEN_PASS_DEF_REREADARGUMENTS
#include "passes/Passes.h.inc"

namespace {

namespace LLVM = mlir::LLVM;
using mlir::Value;

constexpr unsigned kConstantSpace = 4;

class Rereading {
 public:
  explicit Rereading(RereadArgumentsOp op) : op_(op), b(op) {}

  void run() {
    uint32_t end = 0;
    auto kernel = op_->getParentOfType<mlir::func::FuncOp>();
    for (mlir::BlockArgument argument : kernel.getArguments()) {
      const bool is_pointer = mlir::isa<LLVM::LLVMPointerType>(argument.getType());
      const auto bytes = static_cast<uint32_t>(is_pointer ? 8 : bytesOf(argument.getType()));
      const uint32_t offset = argument_offset(end, bytes);
      reread(argument, offset, bytes);
      end = offset + bytes;
    }
    op_.erase();
  }

 private:
  void reread(mlir::BlockArgument argument, uint32_t offset, uint32_t bytes) {
    Value again;
    for (mlir::OpOperand& use : llvm::make_early_inc_range(argument.getUses())) {
      mlir::Operation* user = op_->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (!user || !op_->isBeforeInBlock(user)) continue;
      if (!again) again = load(argument.getType(), offset, bytes);
      use.set(again);
    }
  }

  Value load(mlir::Type type, uint32_t offset, uint32_t bytes) {
    Value address =
        LLVM::GEPOp::create(b, op_.getLoc(), segment().getType(), b.getI8Type(), segment(),
                            llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    auto load = LLVM::LoadOp::create(b, op_.getLoc(), type, address, bytes);
    load.setInvariant(true);
    return load;
  }

  /// The kernarg segment's address, of which LLVM knows nothing: else it would take the values that
  /// it read at the kernel's start.
  Value segment() {
    if (segment_) return segment_;
    mlir::Location loc = op_.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kConstantSpace);
    Value known =
        LLVM::CallIntrinsicOp::create(
            b, loc, pointer, b.getStringAttr("llvm.amdgcn.kernarg.segment.ptr"), mlir::ValueRange())
            .getResult(0);
    auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
    segment_ = LLVM::InlineAsmOp::create(b, loc, pointer, known, "", "=s,0",
                                         /*has_side_effects=*/true, /*is_align_stack=*/false,
                                         LLVM::TailCallKind::None, dialect, mlir::ArrayAttr())
                   .getResult(0);
    return segment_;
  }

  RereadArgumentsOp op_;
  mlir::OpBuilder b;
  Value segment_;
};

struct RereadArgumentsPass : impl::RereadArgumentsBase<RereadArgumentsPass> {
  void runOnOperation() override {
    llvm::SmallVector<RereadArgumentsOp> ops;
    getOperation()->walk([&](RereadArgumentsOp op) { ops.push_back(op); });
    // The innermost first: what stands behind several reads anew at the last.
    for (RereadArgumentsOp op : llvm::reverse(ops)) Rereading(op).run();
  }
};

}  // namespace
}  // namespace baton::ir
