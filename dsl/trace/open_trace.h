// The open trace with its MLIR builder. Only the .cpp files of dsl/ include this.
#pragma once

#include <memory>
#include <string>

#include "dsl/trace/trace.h"
#include "dsl/value/emit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/FoldUtils.h"

namespace baton::dsl {

struct FinishedTrace::Owner {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

namespace detail {

struct OpenTrace {
  OpenTrace(const Target& target, const std::string& key);

  const Target& target;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  std::unique_ptr<mlir::OperationFolder> folder;  ///< keeps one op a constant
  mlir::func::FuncOp kernel;                      ///< null before Kernel
  int workgroup_lanes = 0;
  int grid_workgroups = 0;
  llvm::SmallVector<mlir::Attribute> arguments;           ///< the ABI manifest so far
  llvm::SmallVector<mlir::Attribute> stages;              ///< names in order
  llvm::SmallVector<mlir::OpBuilder::InsertPoint> outer;  ///< where to go on after open regions
  std::string open_stage;                                 ///< "" outside the stages
  mlir::Value thread_id, cta_id;                          ///< made once, at the kernel's head
  bool has_lds_layout = false;

  /// Creates the op, or what it folds to.
  template <class Op, class... Arguments>
  mlir::Value create(mlir::Location location, Arguments&&... operands) {
    return unique(builder.createOrFold<Op>(location, std::forward<Arguments>(operands)...));
  }

  /// The kernel's one op of this constant.
  mlir::Value constant(mlir::TypedAttr value);

 private:
  /// `value`, or the kernel's one op of it when it is a constant.
  mlir::Value unique(mlir::Value value);
};

/// The trace of this thread; a misuse when none is open, or (with `in_kernel`) before its Kernel.
OpenTrace& open_trace(const SourceLocation& at, bool in_kernel = true);

/// A misuse unless `name` is an identifier: letters, digits and _, no digit first. `what` is what
/// it names.
void check_name(const char* what, const std::string& name, const SourceLocation& at);

mlir::Location locate(OpenTrace& trace, const SourceLocation& at);
mlir::Type type_of(OpenTrace& trace, TypeId type);

/// The value behind a handle, checked to be visible here: a value made in a branch or a loop does
/// not exist outside of it.
mlir::Value use(OpenTrace& trace, Handle handle, const SourceLocation& at);

/// A handle of a value.
inline Handle handle_of(mlir::Value value) { return Handle(value.getAsOpaquePointer()); }

/// Moves into `region`'s new block; leave() returns to where enter() was called.
void enter(OpenTrace& trace, mlir::Region& region, mlir::TypeRange arguments = {});
void leave(OpenTrace& trace);

}  // namespace detail
}  // namespace baton::dsl
