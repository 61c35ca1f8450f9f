// What a launch did, counted where it happens; instruction counts come from the hits of each static
// instruction.
#pragma once

#include <cstdint>

namespace baton::emulator {

struct Counters {
  enum Direction { kLoad, kStore };
  uint64_t steps = 0;
  uint64_t bytes[2][3] = {};  ///< [load, store][workgroup, device, system]: by the policy's scope
  uint64_t remote_bytes[2] = {};  ///< of them, in another device's memory
  uint64_t lds_bytes = 0;
  uint64_t lds_bank_conflicts = 0;  ///< cycles beyond the first, 32 banks (64 on gfx950) of 4 bytes
  uint64_t mfmas = 0;
  uint64_t barriers = 0;
  uint64_t sleeps = 0;
  uint64_t parks = 0;  ///< times that a spinning wave was set aside until its memory changed

  void add(const Counters& other);
};

}  // namespace baton::emulator
