// Reading and writing scalars for the families that are compiled once.
#pragma once

#include "runtime/emulator/instruction.h"
#include "runtime/emulator/wave.h"

namespace baton::emulator {

inline uint32_t read32(const Wave& w, const Operand& o) {
  if (o.kind == OperandKind::constant) return static_cast<uint32_t>(o.value);
  switch (o.index) {
    case kScc:
      return w.scc;
    case kVccz:
      return w.vcc() == 0;
    case kExecz:
      return w.exec() == 0;
    default:
      return w.sgpr[o.index];
  }
}

inline uint64_t read64(const Wave& w, const Operand& o) {
  if (o.kind == OperandKind::constant) return o.value;
  if (o.index >= kVccz) return read32(w, o);
  return w.sgpr64(o.index);
}

}  // namespace baton::emulator
