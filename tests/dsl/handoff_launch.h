// What tests of hand-offs open at a kernel's head.
#pragma once

#include "tests/dsl/dsl_trace.h"

namespace baton::tests {

/// Hand-offs of a kernel with peers, opened at its head.
struct Launch {
  explicit Launch(dsl::Kernel& kernel)
      : scratch(kernel.memory("scratch")),
        epoch(kernel.table<dsl::I32>("epoch", 1)),
        peers(kernel.table<dsl::I64>("peers", 8)),
        rank(kernel.i32("rank")),
        slot(kernel.i32("slot")),
        handoffs({.scratch = scratch, .epoch = epoch, .slot = slot, .peers = peers, .rank = rank}) {
  }

  dsl::Handle scratch;
  dsl::Table<dsl::I32> epoch;
  dsl::Table<dsl::I64> peers;
  dsl::I32 rank, slot;
  dsl::Handoffs handoffs;
};

}  // namespace baton::tests
