// From: baton.buffer at the kernel's head. To: one in each stage that uses it, in a kernel that
// reads its arguments anew. Precondition: none.
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {
#define GEN_PASS_DEF_SINKBUFFERS
#include "passes/Passes.h.inc"

namespace {

struct SinkBuffersPass : impl::SinkBuffersBase<SinkBuffersPass> {
  void runOnOperation() override {
    llvm::SmallVector<BufferOp> buffers;
    bool short_of_registers = false;
    getOperation()->walk([&](mlir::Operation* op) {
      short_of_registers = short_of_registers || mlir::isa<RereadArgumentsOp>(op);
      auto buffer = mlir::dyn_cast<BufferOp>(op);
      if (buffer && !buffer->getParentOfType<StageOp>()) buffers.push_back(buffer);
    });
    if (!short_of_registers) return;
    for (BufferOp buffer : buffers) sink(buffer);
  }

  static void sink(BufferOp buffer) {
    llvm::DenseMap<mlir::Operation*, mlir::Value> copies;
    for (mlir::OpOperand& use : llvm::make_early_inc_range(buffer->getUses())) {
      auto stage = use.getOwner()->getParentOfType<StageOp>();
      if (!stage) continue;
      mlir::Value& copy = copies[stage];
      if (!copy) {
        auto b = mlir::OpBuilder::atBlockBegin(&stage.getBody().front());
        copy = b.clone(*buffer.getOperation())->getResult(0);
      }
      use.set(copy);
    }
    if (buffer->use_empty()) buffer->erase();
  }
};

}  // namespace
}  // namespace baton::ir
