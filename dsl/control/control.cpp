#include "dsl/control/control.h"

#include "dsl/trace/open_trace.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace baton::dsl::detail {

namespace scf = mlir::scf;

OpenBranch begin_if(Handle condition, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  auto op = scf::IfOp::create(trace.builder, locate(trace, at), use(trace, condition, at),
                              /*withElseRegion=*/false);
  trace.outer.push_back(trace.builder.saveInsertionPoint());
  trace.builder.setInsertionPoint(op.thenBlock()->getTerminator());
  return {op.getOperation()};
}

void begin_else(OpenBranch branch, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  auto op = mlir::cast<scf::IfOp>(static_cast<mlir::Operation*>(branch.op));
  if (!op.getElseRegion().empty()) misuse(at, "this If has an Else already");
  enter(trace, op.getElseRegion());
  auto end = scf::YieldOp::create(trace.builder, op.getLoc());
  trace.builder.setInsertionPoint(end);
}

void end_branch() { leave(open_trace(SourceLocation::current())); }

Handle begin_for(Handle begin, Handle end, Handle step, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  llvm::APInt constant;
  if (mlir::matchPattern(use(trace, step, at), mlir::m_ConstantInt(&constant)) &&
      !constant.isStrictlyPositive()) {
    misuse(at, "a For with step " + std::to_string(constant.getSExtValue()),
           "the step is at least 1");
  }
  auto op = scf::ForOp::create(trace.builder, locate(trace, at), use(trace, begin, at),
                               use(trace, end, at), use(trace, step, at));
  trace.outer.push_back(trace.builder.saveInsertionPoint());
  trace.builder.setInsertionPoint(op.getBody()->getTerminator());
  return handle_of(op.getInductionVar());
}

void begin_while(const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  auto op =
      scf::WhileOp::create(trace.builder, locate(trace, at), mlir::TypeRange(), mlir::ValueRange());
  enter(trace, op.getBefore());
}

void begin_while_body(Handle condition, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::OpBuilder& b = trace.builder;
  auto op = mlir::cast<scf::WhileOp>(b.getInsertionBlock()->getParentOp());
  scf::ConditionOp::create(b, op.getLoc(), use(trace, condition, at), mlir::ValueRange());
  b.createBlock(&op.getAfter());
  auto end = scf::YieldOp::create(b, op.getLoc());
  b.setInsertionPoint(end);
}

void end_loop() { leave(open_trace(SourceLocation::current())); }

}  // namespace baton::dsl::detail
