// LDS bank conflicts. The rule:
//
// LDS has 32 banks of 4 bytes, on gfx950 64; a word's bank is its word address modulo their number.
// A wave's access is served in phases of so many lanes that their words can fill the banks once:
//
//   bytes a lane    32 banks                      64 banks
//   1 to 4          lanes 0-31, 32-63             0-63
//   8               0-15, 16-31, ...              0-31, 32-63
//   12, 16 store    0-7, 8-15, ...                0-15, 16-31, ...
//   12, 16 load     0-3 + 20-23, 4-7 + 16-19,     0-3 + 12-15 + 20-27, 4-11 + 16-19 + 28-31,
//                   8-11 + 28-31, 12-15 + 24-27,  and the same from lane 32 on
//                   and the same from lane 32 on
//
// (the 16-byte groups as AMD documents them for CK-Tile; for 64 banks two of those make one). In a
// phase a bank gives one word a cycle, to all lanes that ask for that word. A phase's conflicts are
// the cycles beyond its first: the most different words that one bank is asked for, less one. The
// two accesses of ds_read2 and its kin are served one after the other. Atomics count as stores.
#pragma once

#include <cstdint>

#include "runtime/emulator/instruction.h"

namespace baton::emulator {

struct Wave;

/// Of an LDS instruction that the wave is about to execute; 0 for one that reads no address from a
/// register (addtid, append) or does not touch LDS (permutes).
uint64_t bank_conflicts(const Wave& wave, const Instruction& in);

/// The rule itself. `lanes`: a bit each that takes part.
uint64_t bank_conflicts(const uint32_t* addresses, uint64_t lanes, int bytes, bool load, int banks);

}  // namespace baton::emulator
