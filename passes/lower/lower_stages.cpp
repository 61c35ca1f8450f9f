// From: baton.stage. To: its body in place, and locations that carry scopes of debug information.
// Precondition: hand-offs are lowered, their ops located by name ("put ar").
#include "llvm/BinaryFormat/Dwarf.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/lower/closed_door.h"

namespace baton::ir {
#define GEN_PASS_DEF_LOWERSTAGES
#include "passes/Passes.h.inc"

namespace {

namespace LLVM = mlir::LLVM;
using mlir::Location;

/// Where an author wrote it, and inside which hand-off ("" for none).
struct Source {
  mlir::FileLineColLoc line;
  mlir::StringAttr handoff;
};

Source sourceOf(Location loc) {
  Source source;
  loc->walk([&](Location inner) {
    if (auto name = mlir::dyn_cast<mlir::NameLoc>(inner)) source.handoff = name.getName();
    if (auto line = mlir::dyn_cast<mlir::FileLineColLoc>(inner); line && !source.line) {
      source.line = line;
    }
    return mlir::WalkResult::advance();
  });
  return source;
}

class DebugScopes {
 public:
  DebugScopes(mlir::func::FuncOp kernel, mlir::FileLineColLoc line)
      : context_(kernel.getContext()) {
    LLVM::DIFileAttr file = fileOf(line);
    unit_ = LLVM::DICompileUnitAttr::get(distinct(), llvm::dwarf::DW_LANG_C_plus_plus_20, file,
                                         text("Baton"), /*isOptimized=*/true,
                                         LLVM::DIEmissionKind::LineTablesOnly);
    kernel_ = subprogram(kernel.getName(), line);
    kernel->setLoc(mlir::FusedLoc::get(context_, {Location(line)}, kernel_));
  }

  /// `loc` as a line of the kernel; within `stage`, as a line of the stage inlined at its own line.
  /// Unrolled code repeats its locations: each is worked out once.
  Location resolve(Location loc, StageOp stage) {
    auto [known, added] = resolved_.try_emplace({loc, stage.getOperation()}, loc);
    if (added) known->second = scoped(loc, stage);
    return known->second;
  }

 private:
  Location scoped(Location loc, StageOp stage) {
    Source source = sourceOf(loc);
    if (!source.line) return mlir::UnknownLoc::get(context_);
    LLVM::DISubprogramAttr scope = kernel_;
    mlir::LocationAttr caller;
    if (stage) {
      mlir::FileLineColLoc at = sourceOf(stage.getLoc()).line;
      if (!at) at = source.line;
      caller = within(at, kernel_);
      scope = inlined(("stage " + stage.getStage()).str(), at);
    }
    if (source.handoff) {
      caller = call(within(source.line, scope), caller);
      scope = inlined(source.handoff.getValue(), source.line);
    }
    return call(within(source.line, scope), caller);
  }

  Location call(Location callee, mlir::LocationAttr caller) {
    return caller ? Location(mlir::CallSiteLoc::get(callee, caller)) : callee;
  }

  mlir::DistinctAttr distinct() {
    return mlir::DistinctAttr::create(mlir::UnitAttr::get(context_));
  }
  mlir::StringAttr text(llvm::StringRef value) { return mlir::StringAttr::get(context_, value); }

  LLVM::DIFileAttr fileOf(mlir::FileLineColLoc line) {
    return LLVM::DIFileAttr::get(context_, line.getFilename(), "");
  }

  LLVM::DISubprogramAttr subprogram(llvm::StringRef name, mlir::FileLineColLoc line) {
    LLVM::DIFileAttr file = fileOf(line);
    return LLVM::DISubprogramAttr::get(
        context_, distinct(), unit_, file, text(name), /*linkageName=*/text(name), file,
        line.getLine(), line.getLine(),
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
        LLVM::DISubroutineTypeAttr::get(context_, {}), {}, {});
  }

  /// One subprogram for each name: a stage that is unrolled keeps one identity.
  LLVM::DISubprogramAttr inlined(llvm::StringRef name, mlir::FileLineColLoc line) {
    LLVM::DISubprogramAttr& known = inlined_[name];
    if (!known) known = subprogram(name, line);
    return known;
  }

  /// The line in `scope`; a line of another file than the scope's is in a block of that file.
  Location within(mlir::FileLineColLoc line, LLVM::DISubprogramAttr scope) {
    LLVM::DIFileAttr file = fileOf(line);
    LLVM::DILocalScopeAttr local = scope;
    if (scope.getFile() != file) local = LLVM::DILexicalBlockFileAttr::get(scope, file, 0);
    return mlir::FusedLoc::get(context_, {Location(line)}, local);
  }

  mlir::MLIRContext* context_;
  LLVM::DICompileUnitAttr unit_;
  LLVM::DISubprogramAttr kernel_;
  llvm::StringMap<LLVM::DISubprogramAttr> inlined_;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Operation*>, Location> resolved_;
};

void attachScopes(mlir::func::FuncOp kernel) {
  mlir::FileLineColLoc line = sourceOf(kernel.getLoc()).line;
  if (!line) return;
  DebugScopes scopes(kernel, line);
  // Stages are found by their own location below, so they are resolved last.
  llvm::SmallVector<std::pair<mlir::Operation*, Location>> resolved;
  kernel.getBody().walk([&](mlir::Operation* op) {
    resolved.emplace_back(op, scopes.resolve(op->getLoc(), op->getParentOfType<StageOp>()));
  });
  for (auto& [op, location] : resolved) op->setLoc(location);
}

void inlineBody(StageOp stage) {
  mlir::Block& body = stage.getBody().front();
  mlir::Operation* yield = body.getTerminator();
  stage->replaceAllUsesWith(yield->getOperands());
  yield->erase();
  stage->getBlock()->getOperations().splice(stage->getIterator(), body.getOperations());
  stage.erase();
}

struct LowerStagesPass : impl::LowerStagesBase<LowerStagesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<mlir::func::FuncOp>()) {
      if (!function.isExternal()) attachScopes(function);
    }
    llvm::SmallVector<StageOp> stages;
    getOperation()->walk([&](StageOp stage) { stages.push_back(stage); });
    for (StageOp stage : stages) inlineBody(stage);
    if (failed(requireNone<StageOp>(getOperation(), getArgument()))) signalPassFailure();
  }
};

}  // namespace
}  // namespace baton::ir
