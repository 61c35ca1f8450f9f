// libamdhip64, opened when it is wanted.
#pragma once

#include <string>

#include "runtime/device/hip/hip_functions.h"

namespace baton::hip {

class Library {
 public:
  /// Opens BATON_HIP_LIBRARY, else the first of the usual names that is there. Throws Error
  /// (environment), one line: no library, one that lacks a function, or one that does not start.
  Library();
  ~Library();
  Library(const Library&) = delete;

  const Functions& call() const { return functions_; }
  const std::string& name() const { return name_; }
  /// Throws Error that says what was done and what HIP says of it; nothing on success.
  void check(Code code, const std::string& doing) const;

 private:
  std::string name_;  // before the handle: opening sets it
  void* handle_ = nullptr;
  Functions functions_;
};

}  // namespace baton::hip
