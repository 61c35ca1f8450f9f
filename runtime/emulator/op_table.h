// A family's rows.
#pragma once

#include <cstddef>

#include "runtime/emulator/instruction.h"

namespace baton::emulator {

struct OpTable {
  const OpRow* rows;
  size_t count;
};

}  // namespace baton::emulator
