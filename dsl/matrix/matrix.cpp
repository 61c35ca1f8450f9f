#include "dsl/matrix/matrix.h"

#include "dsl/trace/open_trace.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::dsl {

Vec<F32, 4> mfma_16x16x32(const Vec<BF16, 8>& a, const Vec<BF16, 8>& b, const Vec<F32, 4>& c,
                          SourceLocation at) {
  detail::OpenTrace& trace = detail::open_trace(at);
  mlir::Value sum = ir::MfmaOp::create(
      trace.builder, detail::locate(trace, at), detail::type_of(trace, Vec<F32, 4>::type()),
      detail::use(trace, a.handle(), at), detail::use(trace, b.handle(), at),
      detail::use(trace, c.handle(), at));
  return Vec<F32, 4>(detail::handle_of(sum));
}

Vec<F32, 4> zero_accumulator(SourceLocation at) {
  detail::OpenTrace& trace = detail::open_trace(at);
  auto type = mlir::cast<mlir::VectorType>(detail::type_of(trace, Vec<F32, 4>::type()));
  mlir::TypedAttr zeros = mlir::DenseElementsAttr::get(type, 0.0f);
  return Vec<F32, 4>(detail::handle_of(trace.constant(zeros)));
}

}  // namespace baton::dsl
