#include "passes/diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "runtime/base/error.h"

namespace baton::ir {

std::string describe(mlir::Location location) {
  std::string where;
  location->walk([&](mlir::Location inner) {
    auto line = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!line) return mlir::WalkResult::advance();
    where = fmt::format("{}:{}", std::string_view(line.getFilename().getValue()), line.getLine());
    return mlir::WalkResult::interrupt();
  });
  return where;
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext& context)
    : handler_(&context, [this](mlir::Diagnostic& diagnostic) {
        std::string where = describe(diagnostic.getLocation());
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
          errors_.push_back({where, diagnostic.str()});
        } else {
          remarks_.push_back(where.empty() ? diagnostic.str() : where + ": " + diagnostic.str());
        }
        return mlir::success();
      }) {}

void DiagnosticCollector::raise(const std::string& fallback) const {
  if (errors_.empty()) throw Error(ErrorKind::user, fallback);
  throw Error(ErrorKind::user, errors_.front().text, "", errors_.front().where);
}

}  // namespace baton::ir
