#include "dsl/trace/trace.h"

#include "dsl/trace/open_trace.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "passes/diagnostics.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/pipeline.h"
#include "runtime/base/error.h"

namespace baton::dsl {
namespace {

thread_local std::unique_ptr<detail::OpenTrace> g_open;

/// Values of a stage's body that later code uses.
llvm::SetVector<mlir::Value> escaping_values(ir::StageOp stage) {
  llvm::SetVector<mlir::Value> escaping;
  for (mlir::Operation& op : stage.getBody().front()) {
    for (mlir::Value result : op.getResults()) {
      for (mlir::Operation* user : result.getUsers()) {
        if (!stage->isAncestor(user)) escaping.insert(result);
      }
    }
  }
  return escaping;
}

/// Gives the stage a result for each value that leaves it.
void return_escaping_values(ir::StageOp stage) {
  llvm::SetVector<mlir::Value> escaping = escaping_values(stage);
  if (escaping.empty()) return;
  mlir::OpBuilder builder(stage);
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value value : escaping) types.push_back(value.getType());
  auto returning = ir::StageOp::create(builder, stage.getLoc(), types, stage.getStage());
  returning.getBody().takeBody(stage.getBody());
  returning.getBody().front().getTerminator()->setOperands(escaping.getArrayRef());
  for (auto [value, result] : llvm::zip(escaping, returning.getResults())) {
    mlir::Value inside = value;
    inside.replaceUsesWithIf(
        result, [&](mlir::OpOperand& use) { return !returning->isAncestor(use.getOwner()); });
  }
  stage.erase();
}

}  // namespace

namespace detail {

OpenTrace::OpenTrace(const Target& target_in, const std::string& key)
    : target(target_in), builder(static_cast<mlir::MLIRContext*>(nullptr)) {
  mlir::DialectRegistry registry;
  ir::registerDialects(registry);
  context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  builder = mlir::OpBuilder(context.get());
  folder = std::make_unique<mlir::OperationFolder>(context.get());
  module = mlir::ModuleOp::create(builder.getUnknownLoc());
  (*module)->setAttr(ir::kChipAttr, builder.getStringAttr(target.chip));
  (*module)->setAttr(ir::kKeyAttr, builder.getStringAttr(key));
}

OpenTrace& open_trace(const SourceLocation& at, bool in_kernel) {
  if (!g_open) misuse(at, "no trace is open on this thread", "DSL calls belong into a kernel");
  if (in_kernel && !g_open->kernel) {
    misuse(at, "no kernel is open", "begin with Kernel kernel(\"name\", {lanes, workgroups})");
  }
  return *g_open;
}

}  // namespace detail

FinishedTrace::FinishedTrace(std::unique_ptr<Owner> owner) : owner_(std::move(owner)) {}
FinishedTrace::FinishedTrace(FinishedTrace&&) noexcept = default;
FinishedTrace& FinishedTrace::operator=(FinishedTrace&&) noexcept = default;
FinishedTrace::~FinishedTrace() = default;
mlir::ModuleOp FinishedTrace::module() const { return *owner_->module; }

Trace::Trace(const Target& target, const std::string& key) {
  BATON_CHECK(!g_open, "a trace is open on this thread already");
  g_open = std::make_unique<detail::OpenTrace>(target, key);
}

Trace::~Trace() { g_open.reset(); }

FinishedTrace Trace::finish() {
  BATON_CHECK(g_open != nullptr, "this trace is finished already");
  std::unique_ptr<detail::OpenTrace> trace = std::move(g_open);
  if (!trace->kernel) throw Error(ErrorKind::user, "the traced function opened no Kernel");
  BATON_CHECK(trace->outer.empty(), "a stage, branch or loop is still open");
  mlir::func::ReturnOp::create(trace->builder, trace->kernel.getLoc());
  mlir::ModuleOp module = *trace->module;
  module->setAttr(ir::kArgsAttr, trace->builder.getArrayAttr(trace->arguments));
  module->setAttr(ir::kStagesAttr, trace->builder.getArrayAttr(trace->stages));
  llvm::SmallVector<ir::StageOp> stages;
  module->walk([&](ir::StageOp stage) { stages.push_back(stage); });
  for (ir::StageOp stage : stages) return_escaping_values(stage);
  ir::DiagnosticCollector diagnostics(*trace->context);
  if (failed(mlir::verify(module))) diagnostics.raise("the trace is not valid");
  auto owner = std::make_unique<FinishedTrace::Owner>();
  owner->context = std::move(trace->context);
  owner->module = std::move(trace->module);
  return FinishedTrace(std::move(owner));
}

}  // namespace baton::dsl
