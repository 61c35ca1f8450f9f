// Counts what a thread allocates: linked into a program, it replaces operator new there.
#pragma once

#include <cstdint>

namespace baton::tests {

/// Calls of operator new, of any form, by this thread so far.
uint64_t allocations();

}  // namespace baton::tests
