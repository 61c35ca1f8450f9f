#include "dsl/lanes/lanes.h"

#include "dsl/trace/open_trace.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::dsl {

namespace ROCDL = mlir::ROCDL;
using detail::handle_of;
using detail::locate;
using detail::open_trace;
using detail::OpenTrace;
using detail::use;

namespace {

/// An id below `count`, made once at the kernel's head.
template <class IdOp>
I32 id(OpenTrace& trace, mlir::Value& known, int count, const SourceLocation& at) {
  if (!known) {
    mlir::OpBuilder::InsertionGuard guard(trace.builder);
    trace.builder.setInsertionPointToStart(&trace.kernel.getBody().front());
    known = IdOp::create(trace.builder, locate(trace, at), trace.builder.getI32Type(), count);
  }
  return I32(handle_of(known));
}

}  // namespace

I32 thread_id(SourceLocation at) {
  OpenTrace& trace = open_trace(at);
  return id<ir::ThreadIdOp>(trace, trace.thread_id, trace.workgroup_lanes, at);
}

I32 cta_id(SourceLocation at) {
  OpenTrace& trace = open_trace(at);
  return id<ir::CtaIdOp>(trace, trace.cta_id, trace.grid_workgroups, at);
}

I32 lane_id(SourceLocation at) { return thread_id(at) % In<I32>(kWaveLanes, at); }

I32 wave_id(SourceLocation at) { return uniform(thread_id(at) / In<I32>(kWaveLanes, at), at); }

void barrier(SourceLocation at) {
  OpenTrace& trace = open_trace(at);
  ir::BarrierOp::create(trace.builder, locate(trace, at));
}

I64 memrealtime(SourceLocation at) {
  OpenTrace& trace = open_trace(at);
  mlir::OpBuilder& b = trace.builder;
  return I64(handle_of(mlir::LLVM::CallIntrinsicOp::create(
                           b, locate(trace, at), b.getI64Type(),
                           b.getStringAttr("llvm.amdgcn.s.memrealtime"), mlir::ValueRange())
                           .getResult(0)));
}

void sleep(int count, SourceLocation at) {
  if (count < 0 || count > 127) {
    detail::misuse(at, "sleep(" + std::to_string(count) + ")", "the count is 0 .. 127");
  }
  OpenTrace& trace = open_trace(at);
  ROCDL::SSleepOp::create(trace.builder, locate(trace, at), trace.builder.getI32IntegerAttr(count));
}

void keep_order(SourceLocation at) {
  OpenTrace& trace = open_trace(at);
  constexpr int kNothingCrosses = 0;
  ROCDL::SchedBarrier::create(trace.builder, locate(trace, at),
                              trace.builder.getI32IntegerAttr(kNothingCrosses));
}

namespace detail {

Handle read_first_lane(TypeId type, Handle value, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(ROCDL::ReadfirstlaneOp::create(trace.builder, locate(trace, at),
                                                  type_of(trace, type), use(trace, value, at)));
}

Handle read_lane(TypeId type, Handle value, Handle lane, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(ROCDL::ReadlaneOp::create(trace.builder, locate(trace, at), type_of(trace, type),
                                             use(trace, value, at), use(trace, lane, at)));
}

Handle ballot(Handle predicate, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(ROCDL::BallotOp::create(trace.builder, locate(trace, at),
                                           trace.builder.getI64Type(), use(trace, predicate, at)));
}

Handle wave_scan(Handle value, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(ir::WaveScanOp::create(trace.builder, locate(trace, at), use(trace, value, at)));
}

std::vector<Handle> begin_butterfly(std::span<const Handle> values, std::span<const int> offsets,
                                    const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  for (int offset : offsets) {
    if (offset < 1 || offset > 32 || (offset & (offset - 1)) != 0) {
      misuse(at, "butterfly offset " + std::to_string(offset), "1, 2, 4, 8, 16 or 32");
    }
  }
  if (offsets.empty()) misuse(at, "a butterfly without offsets");
  llvm::SmallVector<mlir::Value> inputs;
  for (Handle value : values) inputs.push_back(use(trace, value, at));
  llvm::SmallVector<mlir::Type> types = llvm::to_vector(mlir::ValueRange(inputs).getTypes());
  auto op = ir::ButterflyOp::create(trace.builder, locate(trace, at), types, inputs,
                                    llvm::ArrayRef<int32_t>(offsets.data(), offsets.size()));
  llvm::SmallVector<mlir::Type> pairs(types);
  pairs.append(types.begin(), types.end());
  enter(trace, op.getCombiner(), pairs);
  std::vector<Handle> arguments;
  for (mlir::Value argument : op.getCombiner().getArguments()) {
    arguments.push_back(handle_of(argument));
  }
  return arguments;
}

std::vector<Handle> end_butterfly(std::span<const Handle> results, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  llvm::SmallVector<mlir::Value> values;
  for (Handle result : results) values.push_back(use(trace, result, at));
  ir::YieldOp::create(trace.builder, locate(trace, at), values);
  mlir::Operation* op = trace.builder.getInsertionBlock()->getParentOp();
  leave(trace);
  std::vector<Handle> outputs;
  for (mlir::Value output : op->getResults()) outputs.push_back(handle_of(output));
  return outputs;
}

}  // namespace detail
}  // namespace baton::dsl
