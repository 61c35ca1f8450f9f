// From: baton.buffer, load, store, scalar_load, lds, lds_load, lds_store. To: rocdl raw buffer ops
// with the target's policy bits, llvm loads and stores. Precondition: hand-offs are lowered.
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/lower/closed_door.h"

namespace baton::ir {
#define GEN_PASS_DEF_LOWERMEMORY
#include "passes/Passes.h.inc"

namespace {

/// LLVM's address spaces of the AMDGPU target.
enum AddressSpace : unsigned {
  global_space = 1,
  lds_space = 3,
  constant_space = 4,
  rsrc_space = 8
};

/// Word 3 of a raw buffer resource on gfx9: 32-bit data format, range checks in bytes.
constexpr int32_t kResourceFlags = 0x00027000;
constexpr llvm::StringLiteral kLdsGlobal = "__baton_lds";

class MemoryLowering {
 public:
  MemoryLowering(mlir::ModuleOp module, const Target& target)
      : module_(module), target_(target), b(module.getContext()) {}

  void run() {
    createLdsGlobal();
    llvm::SmallVector<mlir::Operation*> ops;
    module_->walk([&](mlir::Operation* op) { ops.push_back(op); });
    for (mlir::Operation* op : ops) {
      b.setInsertionPoint(op);
      mlir::Value result;
      if (auto buffer = mlir::dyn_cast<BufferOp>(op)) {
        result = lower(buffer);
      } else if (auto load = mlir::dyn_cast<LoadOp>(op)) {
        result = lower(load);
      } else if (auto store = mlir::dyn_cast<StoreOp>(op)) {
        lower(store);
      } else if (auto scalar = mlir::dyn_cast<ScalarLoadOp>(op)) {
        result = lower(scalar);
      } else if (auto lds_load = mlir::dyn_cast<LdsLoadOp>(op)) {
        result = lower(lds_load);
      } else if (auto lds_store = mlir::dyn_cast<LdsStoreOp>(op)) {
        lower(lds_store);
      } else {
        continue;
      }
      if (result) op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
    for (LdsOp lds : llvm::make_early_inc_range(module_.getOps<LdsOp>())) lds.erase();
  }

 private:
  mlir::Value constant(mlir::Location loc, int32_t value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }

  mlir::Value resource(mlir::Value buffer) {
    mlir::Type type = mlir::LLVM::LLVMPointerType::get(b.getContext(), rsrc_space);
    if (buffer.getType() == type) return buffer;
    return mlir::UnrealizedConversionCastOp::create(b, buffer.getLoc(), type, buffer).getResult(0);
  }

  mlir::Value lower(BufferOp op) {
    mlir::Location loc = op.getLoc();
    mlir::Value address = op.getAddress();
    if (address.getType().isInteger(64)) {
      address = mlir::LLVM::IntToPtrOp::create(
          b, loc, mlir::LLVM::LLVMPointerType::get(b.getContext(), global_space), address);
    }
    mlir::Value stride = mlir::arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(0));
    mlir::Value bytes = mlir::arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(static_cast<int64_t>(op.getBytes())));
    return mlir::ROCDL::MakeBufferRsrcOp::create(
        b, loc, mlir::LLVM::LLVMPointerType::get(b.getContext(), rsrc_space), address, stride,
        bytes, constant(loc, kResourceFlags));
  }

  mlir::Value lower(LoadOp op) {
    mlir::Location loc = op.getLoc();
    uint32_t aux = target_.load_aux(static_cast<Scope>(op.getScope()));
    if (op.getStreaming()) aux |= target_.streaming_policy;
    return mlir::ROCDL::RawPtrBufferLoadOp::create(
        b, loc, op.getWords().getType(), resource(op.getBuffer()), op.getOffset(), constant(loc, 0),
        constant(loc, static_cast<int32_t>(aux)), mlir::ArrayAttr(), mlir::ArrayAttr(),
        mlir::ArrayAttr());
  }

  void lower(StoreOp op) {
    mlir::Location loc = op.getLoc();
    uint32_t aux = target_.store_aux(static_cast<Scope>(op.getScope()));
    mlir::ROCDL::RawPtrBufferStoreOp::create(
        b, loc, op.getWords(), resource(op.getBuffer()), op.getOffset(), constant(loc, 0),
        constant(loc, static_cast<int32_t>(aux)), mlir::ArrayAttr(), mlir::ArrayAttr(),
        mlir::ArrayAttr());
  }

  mlir::Value lower(ScalarLoadOp op) {
    mlir::Location loc = op.getLoc();
    mlir::Value base = mlir::LLVM::AddrSpaceCastOp::create(
        b, loc, mlir::LLVM::LLVMPointerType::get(b.getContext(), constant_space), op.getAddress());
    mlir::Value address =
        mlir::LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                                  llvm::ArrayRef<mlir::LLVM::GEPArg>{op.getOffset()});
    auto load = mlir::LLVM::LoadOp::create(b, loc, op.getValue().getType(), address,
                                           static_cast<unsigned>(bytesOf(op.getValue().getType())));
    load.setInvariant(true);
    return load;
  }

  /// One global holds all ranges: their overlaps are the author's unions.
  void createLdsGlobal() {
    int64_t bytes = 0;
    for (LdsOp lds : module_.getOps<LdsOp>()) {
      bytes = std::max(bytes, static_cast<int64_t>(lds.getOffset() + lds.getBytes()));
    }
    if (bytes == 0) return;
    b.setInsertionPointToStart(module_.getBody());
    auto type = mlir::LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
    mlir::LLVM::GlobalOp::create(b, module_.getLoc(), type, /*isConstant=*/false,
                                 mlir::LLVM::Linkage::Internal, kLdsGlobal, mlir::Attribute(),
                                 /*alignment=*/16, lds_space);
  }

  mlir::Value ldsAddress(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol, mlir::Value offset) {
    mlir::Location loc = op->getLoc();
    auto pointer = mlir::LLVM::LLVMPointerType::get(b.getContext(), lds_space);
    mlir::Value base = mlir::LLVM::AddressOfOp::create(b, loc, pointer, kLdsGlobal);
    auto start = static_cast<int32_t>(lookupLds(op, symbol).getOffset());
    mlir::Value range = mlir::LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                                                  llvm::ArrayRef<mlir::LLVM::GEPArg>{start});
    return mlir::LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), range,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{offset});
  }

  mlir::Value lower(LdsLoadOp op) {
    mlir::Value address = ldsAddress(op, op.getLdsAttr(), op.getOffset());
    mlir::Type type = op.getValue().getType();
    return mlir::LLVM::LoadOp::create(b, op.getLoc(), type, address,
                                      static_cast<unsigned>(bytesOf(type)));
  }

  void lower(LdsStoreOp op) {
    mlir::Value address = ldsAddress(op, op.getLdsAttr(), op.getOffset());
    mlir::LLVM::StoreOp::create(b, op.getLoc(), op.getValue(), address,
                                static_cast<unsigned>(bytesOf(op.getValue().getType())));
  }

  mlir::ModuleOp module_;
  const Target& target_;
  mlir::OpBuilder b;
};

struct LowerMemoryPass : impl::LowerMemoryBase<LowerMemoryPass> {
  void runOnOperation() override {
    const Target* target = targetOf(getOperation());
    if (!target) return signalPassFailure();
    MemoryLowering(getOperation(), *target).run();
    if (failed(requireNone<BufferOp, LoadOp, StoreOp, ScalarLoadOp, LdsOp, LdsLoadOp, LdsStoreOp>(
            getOperation(), getArgument()))) {
      signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace baton::ir
