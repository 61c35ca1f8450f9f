// MLIR's diagnostics as Baton's errors.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/Diagnostics.h"

namespace baton::ir {

/// "file:line" of a location, or "" when it has none.
std::string describe(mlir::Location location);

/// Collects what is diagnosed in a context while it lives.
class DiagnosticCollector {
 public:
  explicit DiagnosticCollector(mlir::MLIRContext& context);

  /// Throws the first error as a baton::Error (user) that names its source line; `fallback` says
  /// what failed when nothing was diagnosed.
  [[noreturn]] void raise(const std::string& fallback) const;

  /// Remarks and warnings, each "file:line: text".
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  struct Message {
    std::string where, text;
  };
  std::vector<Message> errors_;
  std::vector<std::string> remarks_;
  mlir::ScopedDiagnosticHandler handler_;
};

}  // namespace baton::ir
