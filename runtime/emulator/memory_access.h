// A wave's accesses to tracked memory: checks, and the bookkeeping that lets a spinning wave sleep.
// Nothing here is inlined into the files that are compiled for a vector level.
#pragma once

#include <cstdint>

#include "runtime/emulator/wave.h"

namespace baton::emulator {

/// The host byte of `address`, after the check that `size` bytes lie in one live allocation;
/// remembers the allocation in the wave. Throws Fault.
uint8_t* resolve(Wave& w, uint64_t address, uint64_t size, int lane, bool store);

/// Must be called before the bytes are read.
void note_load(Wave& w, uint64_t address, uint64_t size);
/// Must be called after the bytes were written.
void note_store(Wave& w, uint64_t address, uint64_t size);

/// A load or store has ended: the slice may end here.
void end_memory(Wave& w);

/// Counts an access of `bytes` in all to the allocation that was resolved last.
void count_bytes(Wave& w, bool store, uint64_t bytes);
/// Counts each active lane's `bytes` where they lie.
void count_lanes(Wave& w, bool store, const uint64_t* addresses, uint64_t active, uint32_t bytes);

}  // namespace baton::emulator
