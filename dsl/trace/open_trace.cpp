#include "dsl/trace/open_trace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/diagnostics.h"
#include "passes/dialect/BatonDialect.h"
#include "runtime/base/error.h"

namespace baton::dsl {

std::string describe(const SourceLocation& at) {
  return fmt::format("{}:{}", at.file_name(), at.line());
}

std::string TypeId::name() const {
  constexpr const char* kNames[] = {"Bool", "I32", "U32", "I64", "F32", "BF16"};
  const char* element = kNames[static_cast<int>(scalar)];
  return count == 1 ? element : fmt::format("Vec<{}, {}>", element, count);
}

namespace detail {

void misuse(const SourceLocation& at, const std::string& message, const std::string& hint) {
  throw Error(ErrorKind::user, message, hint, describe(at));
}

void check_name(const char* what, const std::string& name, const SourceLocation& at) {
  const auto fits = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (!name.empty() && !llvm::isDigit(name[0]) && llvm::all_of(name, fits)) return;
  misuse(at, fmt::format("{} named {:?}", what, name),
         "a name has letters, digits and _, and does not begin with a digit");
}

mlir::Location locate(OpenTrace& trace, const SourceLocation& at) {
  return mlir::FileLineColLoc::get(trace.context.get(), at.file_name(), at.line(), at.column());
}

mlir::Type type_of(OpenTrace& trace, TypeId type) {
  mlir::OpBuilder& b = trace.builder;
  mlir::Type element;
  switch (type.scalar) {
    case Scalar::i1:
      element = b.getI1Type();
      break;
    case Scalar::i32:
    case Scalar::u32:
      element = b.getI32Type();
      break;
    case Scalar::i64:
      element = b.getI64Type();
      break;
    case Scalar::f32:
      element = b.getF32Type();
      break;
    case Scalar::bf16:
      element = b.getBF16Type();
      break;
  }
  return type.count == 1 ? element : mlir::VectorType::get(type.count, element);
}

namespace {

/// A finished stage hands its values on: seen from outside, they stand where the stage stands.
mlir::Region* visible_region(mlir::Region* region, mlir::Region* here) {
  while (!region->isAncestor(here) && mlir::isa<ir::StageOp>(region->getParentOp())) {
    region = region->getParentRegion();
  }
  return region;
}

}  // namespace

mlir::Value use(OpenTrace& trace, Handle handle, const SourceLocation& at) {
  if (!handle.get()) misuse(at, "a value is used that was never set", "give it a value first");
  mlir::Value value = mlir::Value::getFromOpaquePointer(handle.get());
  mlir::Region* here = trace.builder.getInsertionBlock()->getParent();
  mlir::Region* region = visible_region(value.getParentRegion(), here);
  if (region->isAncestor(here)) return value;
  misuse(at,
         fmt::format("a value made inside a branch or loop at {} is used outside of it",
                     ir::describe(value.getLoc())),
         "hold what a branch or a loop changes in a Var");
}

void enter(OpenTrace& trace, mlir::Region& region, mlir::TypeRange arguments) {
  trace.outer.push_back(trace.builder.saveInsertionPoint());
  llvm::SmallVector<mlir::Location> locations(arguments.size(), region.getLoc());
  trace.builder.createBlock(&region, region.end(), arguments, locations);
}

void leave(OpenTrace& trace) { trace.builder.restoreInsertionPoint(trace.outer.pop_back_val()); }

mlir::Value OpenTrace::constant(mlir::TypedAttr value) {
  mlir::Dialect* arith = context->getOrLoadDialect<mlir::arith::ArithDialect>();
  return folder->getOrCreateConstant(&kernel.getBody().front(), arith, value, value.getType());
}

mlir::Value OpenTrace::unique(mlir::Value value) {
  auto op = value.getDefiningOp<mlir::arith::ConstantOp>();
  if (!op) return value;
  mlir::Value known = constant(op.getValue());
  if (known != value && value.use_empty()) op.erase();
  return known;
}

}  // namespace detail
}  // namespace baton::dsl
