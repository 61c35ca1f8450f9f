#include "tests/kernels/broken_attn_post.h"

#include <functional>
#include <vector>

#include "builds/kimi_k3/attn_post.h"
#include "codegen/codegen.h"
#include "dsl/trace/trace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/diagnostics.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/pipeline.h"
#include "runtime/base/error.h"

namespace baton::tests {
namespace {

using mlir::Operation;

dsl::FinishedTrace trace_of(const BuildKey& key) {
  dsl::Trace trace(find_target(key.chip()), key.text());
  builds::kimi_k3::trace_attn_post(key);
  return trace.finish();
}

bool stands_at(Operation* op, const OpPlace& place) {
  if (op->getName().getStringRef() != place.op) return false;
  auto stage = op->getParentOfType<ir::StageOp>();
  if (!stage || stage.getStage() != place.stage) return false;
  if (place.region.empty()) return true;
  const auto region = op->getAttrOfType<mlir::FlatSymbolRefAttr>("region");
  return region && region.getValue() == place.region;
}

std::vector<Operation*> ops_at(mlir::ModuleOp module, const OpPlace& place) {
  std::vector<Operation*> ops;
  module.walk([&](Operation* op) {
    if (stands_at(op, place)) ops.push_back(op);
  });
  return ops;
}

using Change = std::function<void(mlir::OpBuilder& builder, Operation* op)>;

BrokenKernel build_changed(const BuildKey& key, const OpPlace& place, const Change& change) {
  const dsl::FinishedTrace trace = trace_of(key);
  mlir::ModuleOp module = trace.module();
  const std::vector<Operation*> ops = ops_at(module, place);
  BATON_CHECK(place.index < ops.size(), place.op + " in stage " + place.stage);
  Operation* op = ops[place.index];
  BrokenKernel broken{{}, ir::describe(op->getLoc())};
  mlir::OpBuilder builder(op);
  change(builder, op);
  ir::DiagnosticCollector diagnostics(*module.getContext());
  mlir::PassManager manager(module.getContext());
  ir::buildPipeline(manager);
  if (failed(mlir::verify(module)) || failed(manager.run(module))) {
    diagnostics.raise("the passes failed");
  }
  broken.object = generate(module).code_object;
  return broken;
}

mlir::Value constant(mlir::OpBuilder& builder, mlir::Location at, mlir::Type type, int64_t value) {
  return mlir::arith::ConstantOp::create(builder, at, type, builder.getIntegerAttr(type, value));
}

mlir::OpOperand& offset_of(Operation* op) {
  if (auto load = mlir::dyn_cast<ir::LoadOp>(op)) return load.getOffsetMutable();
  return mlir::cast<ir::StoreOp>(op).getOffsetMutable();
}

mlir::OpOperand& buffer_of(Operation* op) {
  if (auto load = mlir::dyn_cast<ir::LoadOp>(op)) return load.getBufferMutable();
  return mlir::cast<ir::StoreOp>(op).getBufferMutable();
}

}  // namespace

size_t count_ops(const BuildKey& key, const OpPlace& place) {
  const dsl::FinishedTrace trace = trace_of(key);
  return ops_at(trace.module(), place).size();
}

BrokenKernel build_without(const BuildKey& key, const OpPlace& place) {
  return build_changed(key, place, [](mlir::OpBuilder&, Operation* op) { op->erase(); });
}

BrokenKernel build_without_on(const BuildKey& key, const OpPlace& place, int rank) {
  return build_changed(key, place, [rank](mlir::OpBuilder& builder, Operation* op) {
    const mlir::Location at = op->getLoc();
    auto handoffs = op->getOperand(0).getDefiningOp<ir::HandoffsOp>();
    const mlir::Value skipped = constant(builder, at, builder.getI32Type(), rank);
    const mlir::Value runs = mlir::arith::CmpIOp::create(
        builder, at, mlir::arith::CmpIPredicate::ne, handoffs.getRank(), skipped);
    auto guard = mlir::scf::IfOp::create(builder, at, runs, /*withElseRegion=*/false);
    op->moveBefore(guard.thenYield());
  });
}

BrokenKernel build_with_offset(const BuildKey& key, const OpPlace& place, int thread, int bytes) {
  return build_changed(key, place, [=](mlir::OpBuilder& builder, Operation* op) {
    const mlir::Location at = op->getLoc();
    const mlir::Type i32 = builder.getI32Type();
    const auto lanes =
        op->getParentOfType<mlir::ModuleOp>()->getAttrOfType<mlir::IntegerAttr>(ir::kWorkgroupAttr);
    const mlir::Value id =
        ir::ThreadIdOp::create(builder, at, static_cast<uint32_t>(lanes.getInt()));
    const mlir::Value hit = mlir::arith::CmpIOp::create(builder, at, mlir::arith::CmpIPredicate::eq,
                                                        id, constant(builder, at, i32, thread));
    const mlir::Value added = mlir::arith::SelectOp::create(
        builder, at, hit, constant(builder, at, i32, bytes), constant(builder, at, i32, 0));
    mlir::OpOperand& offset = offset_of(op);
    offset.set(mlir::arith::AddIOp::create(builder, at, offset.get(), added));
  });
}

BrokenKernel build_with_address(const BuildKey& key, const OpPlace& place, int bytes) {
  return build_changed(key, place, [=](mlir::OpBuilder& builder, Operation* op) {
    const mlir::Location at = op->getLoc();
    mlir::OpOperand& buffer = buffer_of(op);
    Operation* whole = buffer.get().getDefiningOp<ir::BufferOp>();
    Operation* moved = builder.clone(*whole);
    const mlir::Value address = moved->getOperand(0);
    builder.setInsertionPoint(moved);
    moved->setOperand(
        0, mlir::LLVM::GEPOp::create(builder, at, address.getType(), builder.getI8Type(), address,
                                     mlir::ArrayRef<mlir::LLVM::GEPArg>{bytes}));
    buffer.set(moved->getResult(0));
  });
}

}  // namespace baton::tests
