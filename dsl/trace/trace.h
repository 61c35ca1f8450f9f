// A trace: while it is open, DSL calls on this thread become ops of its module. finish() is the one
// door: it verifies everything and is the only maker of a FinishedTrace.
#pragma once

#include <memory>
#include <string>

#include "runtime/target/target.h"

namespace mlir {
class ModuleOp;
}

namespace baton::dsl {

/// A verified module and the context that owns it.
class FinishedTrace {
 public:
  struct Owner;
  explicit FinishedTrace(std::unique_ptr<Owner> owner);
  FinishedTrace(FinishedTrace&&) noexcept;
  FinishedTrace& operator=(FinishedTrace&&) noexcept;
  ~FinishedTrace();

  mlir::ModuleOp module() const;

 private:
  std::unique_ptr<Owner> owner_;
};

/// One trace may be open on a thread.
class Trace {
 public:
  /// `key` is the canonical text of the build key; it travels with the module.
  Trace(const Target& target, const std::string& key);
  ~Trace();
  Trace(const Trace&) = delete;

  /// Closes and verifies. Throws Error with the author's file and line.
  FinishedTrace finish();
};

}  // namespace baton::dsl
