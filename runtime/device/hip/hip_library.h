// libamdhip64, opened when it is wanted.
#pragma once

#include <string>

#include "runtime/base/dynamic_library.h"
#include "runtime/device/hip/hip_functions.h"

namespace baton::hip {

class Library {
 public:
  /// Opens BATON_HIP_LIBRARY, else the first of the usual names that is there. Throws Error
  /// (environment), one line: no library, one that lacks a function, or one that does not start.
  Library();

  const Functions& call() const { return functions_; }
  const std::string& name() const { return library_.name(); }
  /// Throws Error that says what was done and what HIP says of it; nothing on success.
  void check(Code code, const std::string& doing) const;
  /// The same for what is asked before there is any work: it is the machine's fault, with a hint.
  void check_machine(Code code, const std::string& doing) const;

 private:
  std::string sentence(Code code, const std::string& doing) const;

  DynamicLibrary library_;
  Functions functions_;
};

}  // namespace baton::hip
