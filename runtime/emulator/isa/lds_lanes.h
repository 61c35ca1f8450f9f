// A wave's lanes at the local data share.
#pragma once

#include "runtime/emulator/isa/memory_lanes.h"

namespace baton::emulator::BATON_ISA {

/// Byte offsets of the active lanes, checked against the workgroup's allocation.
struct LdsAccess {
  alignas(64) uint32_t at[kLanes];
  uint64_t active;
};

BATON_INLINE void check_lds(Wave& w, const LdsAccess& a, uint32_t bytes, bool store) {
  uint64_t high = 0;
  if (a.active == ~uint64_t{0}) {
    uint32_t h = 0;
    for (int i = 0; i < kLanes; ++i) h = a.at[i] > h ? a.at[i] : h;
    high = h;
  } else {
    for (int i = 0; i < kLanes; ++i) {
      if (((a.active >> i) & 1) && a.at[i] > high) high = a.at[i];
    }
  }
  if (high + bytes <= w.lds_bytes) return;
  for (int i = 0; i < kLanes; ++i) {
    if (((a.active >> i) & 1) && uint64_t{a.at[i]} + bytes > w.lds_bytes) {
      fault_lds(w, store ? "store to" : "load of", a.at[i], bytes, i);
    }
  }
}

BATON_INLINE LdsAccess lds_lanes(Wave& w, const Operand& address, uint32_t offset) {
  LdsAccess a;
  const uint32_t* v = w.row(address);
  for (int i = 0; i < kLanes; ++i) a.at[i] = v[i] + offset;
  a.active = w.exec();
  return a;
}

BATON_INLINE void count_lds(Wave& w, const LdsAccess& a, uint32_t bytes) {
  w.worker->tally->traffic[w.pc - 1].bytes +=
      uint64_t{bytes} * static_cast<uint64_t>(__builtin_popcountll(a.active));
}

BATON_INLINE void wrote_lds(Wave& w) {
  w.spin.pure = false;
  w.spin.wrote_lds = true;
}

}  // namespace baton::emulator::BATON_ISA
