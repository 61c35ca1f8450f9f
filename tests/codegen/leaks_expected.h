// Where LLVM gives up, what it owned is left behind on purpose: the leak checker must not mind.
#pragma once

#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

namespace baton::tests {

/// Allocations of this thread are no leaks while it lives.
class LeaksExpected {
 public:
#if __has_feature(address_sanitizer)
  LeaksExpected() { __lsan_disable(); }
  ~LeaksExpected() { __lsan_enable(); }
#else
  LeaksExpected() {}
  ~LeaksExpected() {}
#endif
  LeaksExpected(const LeaksExpected&) = delete;
  LeaksExpected& operator=(const LeaksExpected&) = delete;
};

}  // namespace baton::tests
