#include "dsl/value/emit.h"

#include "dsl/trace/open_trace.h"
#include "dsl/value/operators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace baton::dsl::detail {

namespace arith = mlir::arith;
namespace {

bool is_float(TypeId type) { return type.scalar == Scalar::f32 || type.scalar == Scalar::bf16; }
bool is_unsigned(TypeId type) { return type.scalar == Scalar::u32 || type.scalar == Scalar::i1; }

mlir::Value constant_of(OpenTrace& trace, mlir::Type type, int64_t value) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  mlir::TypedAttr one = trace.builder.getIntegerAttr(element, value);
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type)) {
    one = mlir::DenseElementsAttr::get(vector, mlir::Attribute(one));
  }
  return trace.constant(one);
}

template <class Op>
mlir::Value fold(OpenTrace& trace, mlir::Location loc, mlir::Value a, mlir::Value b) {
  return trace.create<Op>(loc, a, b);
}

mlir::Value float_binary(OpenTrace& trace, Binary op, mlir::Location loc, mlir::Value a,
                         mlir::Value b, const SourceLocation& at) {
  switch (op) {
    case Binary::add:
      return fold<arith::AddFOp>(trace, loc, a, b);
    case Binary::sub:
      return fold<arith::SubFOp>(trace, loc, a, b);
    case Binary::mul:
      return fold<arith::MulFOp>(trace, loc, a, b);
    case Binary::div:
      return fold<arith::DivFOp>(trace, loc, a, b);
    case Binary::min:
      return fold<arith::MinNumFOp>(trace, loc, a, b);
    case Binary::max:
      return fold<arith::MaxNumFOp>(trace, loc, a, b);
    default:
      misuse(at, "this operator is for integers");
  }
}

mlir::Value integer_binary(OpenTrace& trace, Binary op, bool is_unsigned, mlir::Location loc,
                           mlir::Value a, mlir::Value b) {
  switch (op) {
    case Binary::add:
      return fold<arith::AddIOp>(trace, loc, a, b);
    case Binary::sub:
      return fold<arith::SubIOp>(trace, loc, a, b);
    case Binary::mul:
      return fold<arith::MulIOp>(trace, loc, a, b);
    case Binary::bit_and:
      return fold<arith::AndIOp>(trace, loc, a, b);
    case Binary::bit_or:
      return fold<arith::OrIOp>(trace, loc, a, b);
    case Binary::bit_xor:
      return fold<arith::XOrIOp>(trace, loc, a, b);
    case Binary::shl:
      return fold<arith::ShLIOp>(trace, loc, a, b);
    case Binary::div:
      return is_unsigned ? fold<arith::DivUIOp>(trace, loc, a, b)
                         : fold<arith::DivSIOp>(trace, loc, a, b);
    case Binary::rem:
      return is_unsigned ? fold<arith::RemUIOp>(trace, loc, a, b)
                         : fold<arith::RemSIOp>(trace, loc, a, b);
    case Binary::shr:
      return is_unsigned ? fold<arith::ShRUIOp>(trace, loc, a, b)
                         : fold<arith::ShRSIOp>(trace, loc, a, b);
    case Binary::min:
      return is_unsigned ? fold<arith::MinUIOp>(trace, loc, a, b)
                         : fold<arith::MinSIOp>(trace, loc, a, b);
    case Binary::max:
      return is_unsigned ? fold<arith::MaxUIOp>(trace, loc, a, b)
                         : fold<arith::MaxSIOp>(trace, loc, a, b);
  }
  llvm_unreachable("every operator is handled");
}

bool is_zero_constant(mlir::Value value) { return mlir::matchPattern(value, mlir::m_Zero()); }

/// A shift by as many bits as the type has, or more, has no value.
void check_shift(TypeId type, mlir::Value amount, const SourceLocation& at) {
  llvm::APInt constant;
  const int bits = 8 * type.bytes();
  if (!mlir::matchPattern(amount, mlir::m_ConstantInt(&constant))) return;
  if (constant.ult(static_cast<uint64_t>(bits))) return;
  misuse(at, "a shift of " + type.name() + " by " + std::to_string(constant.getSExtValue()),
         "shift by 0 .. " + std::to_string(bits - 1));
}

arith::CmpFPredicate float_predicate(Compare op) {
  // All but `ne` are false on a NaN, as in C++.
  constexpr arith::CmpFPredicate kPredicates[] = {
      arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OLT,
      arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
  return kPredicates[static_cast<int>(op)];
}

arith::CmpIPredicate integer_predicate(Compare op, bool is_unsigned) {
  using P = arith::CmpIPredicate;
  constexpr P kSigned[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  constexpr P kUnsigned[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  return (is_unsigned ? kUnsigned : kSigned)[static_cast<int>(op)];
}

mlir::Value rsq(OpenTrace& trace, mlir::Location loc, mlir::Value a) {
  mlir::OpBuilder& b = trace.builder;
  return mlir::LLVM::CallIntrinsicOp::create(b, loc, a.getType(),
                                             b.getStringAttr("llvm.amdgcn.rsq"), a)
      .getResult(0);
}

}  // namespace

void check_fits(Scalar scalar, int64_t value, bool beyond_i64, const SourceLocation& at) {
  bool fits = !beyond_i64;
  if (scalar == Scalar::i32) fits = fits && value >= INT32_MIN && value <= INT32_MAX;
  if (scalar == Scalar::u32) fits = fits && value >= 0 && value <= UINT32_MAX;
  if (!fits) {
    misuse(at, "constant " + (beyond_i64 ? "above 2^63" : std::to_string(value)) +
                   " does not fit a " + TypeId{scalar}.name());
  }
}

Handle constant_int(TypeId type, int64_t value, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::Type of = type_of(trace, type);
  mlir::TypedAttr attribute = mlir::IntegerAttr::get(
      of, llvm::APInt(of.getIntOrFloatBitWidth(), static_cast<uint64_t>(value), false, true));
  return handle_of(trace.constant(attribute));
}

Handle constant_float(float value, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::TypedAttr attribute =
      mlir::FloatAttr::get(trace.builder.getF32Type(), llvm::APFloat(value));
  return handle_of(trace.constant(attribute));
}

Handle binary(Binary op, TypeId type, Handle a, Handle b, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::Value left = use(trace, a, at), right = use(trace, b, at);
  mlir::Location loc = locate(trace, at);
  if (is_float(type)) return handle_of(float_binary(trace, op, loc, left, right, at));
  if ((op == Binary::div || op == Binary::rem) && is_zero_constant(right)) {
    misuse(at, "division by the constant 0");
  }
  if (op == Binary::shl || op == Binary::shr) check_shift(type, right, at);
  return handle_of(integer_binary(trace, op, is_unsigned(type), loc, left, right));
}

Handle compare(Compare op, TypeId type, Handle a, Handle b, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::Value left = use(trace, a, at), right = use(trace, b, at);
  mlir::Location loc = locate(trace, at);
  if (is_float(type)) {
    return handle_of(trace.create<arith::CmpFOp>(loc, float_predicate(op), left, right));
  }
  return handle_of(
      trace.create<arith::CmpIOp>(loc, integer_predicate(op, is_unsigned(type)), left, right));
}

Handle unary(Unary op, TypeId type, Handle a, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::OpBuilder& b = trace.builder;
  mlir::Value value = use(trace, a, at);
  mlir::Location loc = locate(trace, at);
  mlir::Type of = value.getType();
  switch (op) {
    case Unary::neg:
      if (is_float(type)) return handle_of(trace.create<arith::NegFOp>(loc, value));
      return handle_of(fold<arith::SubIOp>(trace, loc, constant_of(trace, of, 0), value));
    case Unary::bit_not:
      return handle_of(fold<arith::XOrIOp>(trace, loc, value, constant_of(trace, of, -1)));
    case Unary::abs:
      return handle_of(mlir::math::AbsFOp::create(b, loc, value));
    case Unary::popcount:
      return handle_of(mlir::math::CtPopOp::create(b, loc, value));
    case Unary::exp2:
      return handle_of(mlir::ROCDL::ROCDLExp2::create(b, loc, of, value));
    case Unary::rcp:
      return handle_of(mlir::ROCDL::ROCDLRcp::create(b, loc, of, value));
    case Unary::rsq:
      return handle_of(rsq(trace, loc, value));
  }
  llvm_unreachable("every operator is handled");
}

Handle fma(TypeId, Handle a, Handle b, Handle c, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(mlir::math::FmaOp::create(trace.builder, locate(trace, at), use(trace, a, at),
                                             use(trace, b, at), use(trace, c, at)));
}

Handle select(Handle condition, Handle a, Handle b, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(trace.create<arith::SelectOp>(locate(trace, at), use(trace, condition, at),
                                                 use(trace, a, at), use(trace, b, at)));
}

Handle convert(TypeId from, TypeId to, Handle a, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::Value value = use(trace, a, at);
  mlir::Location loc = locate(trace, at);
  mlir::Type of = type_of(trace, to);
  if (is_float(from) && is_float(to)) {
    if (to.bytes() < from.bytes()) return handle_of(trace.create<arith::TruncFOp>(loc, of, value));
    return handle_of(trace.create<arith::ExtFOp>(loc, of, value));
  }
  if (is_float(from)) return handle_of(trace.create<arith::FPToSIOp>(loc, of, value));
  if (is_float(to)) return handle_of(trace.create<arith::SIToFPOp>(loc, of, value));
  if (to.bytes() < from.bytes()) return handle_of(trace.create<arith::TruncIOp>(loc, of, value));
  if (is_unsigned(from)) return handle_of(trace.create<arith::ExtUIOp>(loc, of, value));
  return handle_of(trace.create<arith::ExtSIOp>(loc, of, value));
}

Handle bitcast(TypeId to, Handle a, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::OpBuilder& b = trace.builder;
  mlir::Value value = use(trace, a, at);
  mlir::Location loc = locate(trace, at);
  mlir::Type of = type_of(trace, to);
  if (value.getType() == of) return a;
  bool from_vector = mlir::isa<mlir::VectorType>(value.getType());
  if (!from_vector && to.count == 1)
    return handle_of(trace.create<arith::BitcastOp>(loc, of, value));
  if (!from_vector) {
    auto one = mlir::VectorType::get(1, value.getType());
    value = mlir::vector::FromElementsOp::create(b, loc, one, value);
  }
  auto whole = mlir::dyn_cast<mlir::VectorType>(of);
  if (!whole) whole = mlir::VectorType::get(1, of);
  value = trace.create<mlir::vector::BitCastOp>(loc, whole, value);
  if (to.count == 1) value = trace.create<mlir::vector::ExtractOp>(loc, value, 0);
  return handle_of(value);
}

Handle extract(Handle vector, int index, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(trace.create<mlir::vector::ExtractOp>(locate(trace, at), use(trace, vector, at),
                                                         static_cast<int64_t>(index)));
}

Handle from_elements(TypeId type, std::span<const Handle> elements, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  llvm::SmallVector<mlir::Value> values;
  for (Handle element : elements) values.push_back(use(trace, element, at));
  return handle_of(mlir::vector::FromElementsOp::create(
      trace.builder, locate(trace, at), mlir::cast<mlir::VectorType>(type_of(trace, type)),
      values));
}

Handle make_variable(TypeId type, Handle initial, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::OpBuilder& b = trace.builder;
  mlir::Location loc = locate(trace, at);
  mlir::Value value = use(trace, initial, at);
  mlir::Value storage;
  {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&trace.kernel.getBody().front());
    mlir::Value one = trace.constant(b.getI32IntegerAttr(1));
    b.setInsertionPointAfterValue(one);
    auto pointer = mlir::LLVM::LLVMPointerType::get(trace.context.get(), 5);
    storage = mlir::LLVM::AllocaOp::create(b, loc, pointer, type_of(trace, type), one);
  }
  mlir::LLVM::StoreOp::create(b, loc, value, storage);
  return handle_of(storage);
}

Handle read_variable(TypeId type, Handle variable, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(mlir::LLVM::LoadOp::create(trace.builder, locate(trace, at),
                                              type_of(trace, type), use(trace, variable, at)));
}

void write_variable(Handle variable, Handle value, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::LLVM::StoreOp::create(trace.builder, locate(trace, at), use(trace, value, at),
                              use(trace, variable, at));
}

}  // namespace baton::dsl::detail
