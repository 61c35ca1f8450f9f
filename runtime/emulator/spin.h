// A wave that watches itself spin.
#pragma once

#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/wave.h"

namespace baton::emulator {

/// Starts to record what the wave reads, from here on.
inline void begin_watch(Wave& wave) {
  SpinWatch& spin = wave.spin;
  spin.active = true;
  spin.pure = true;
  spin.reads_lds = spin.reads_clock = false;
  spin.watch.clear();
  spin.probe_pc = wave.pc;
  spin.lds_version = wave.workgroup->lds_version;
}

/// The instruction at which a wave that spins waits: its last load.
inline uint32_t wait_pc(const Wave& wave) {
  if (wave.spin.last_address != 0) return wave.spin.last_load_pc;
  return wave.pc == 0 ? 0 : wave.pc - 1;
}

/// Of everything that decides how the wave goes on, but for memory and its place in the program.
uint64_t state_hash(const Wave& wave);

/// Of which lines the wave has read since begin_watch(), and in which versions.
uint64_t reads_hash(const Wave& wave);

}  // namespace baton::emulator
