// What launches did, counted by static instruction where it happens, summed by stage when somebody
// asks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/emulator/instruction.h"

namespace baton::emulator {

inline constexpr int kMaxDevices = 64;

/// What the executions of one static instruction moved and waited.
struct Traffic {
  uint64_t bytes = 0;         ///< of memory or LDS
  uint64_t remote_bytes = 0;  ///< of them, in another device's memory
  uint64_t bank_conflicts = 0;
  uint64_t parks = 0;
};

/// What one host thread counts of one launch.
struct Tally {
  explicit Tally(std::size_t instructions = 0) : hits(instructions), traffic(instructions) {}
  void add(const Tally& other);

  std::vector<uint64_t> hits;  ///< executions of each static instruction by a wave
  std::vector<Traffic> traffic;
  std::array<uint64_t, kMaxDevices> stored{};  ///< bytes stored, by the device whose memory it is
};

/// Sums over a stage, a kernel or all launches.
struct Counters {
  enum Direction { kLoad, kStore };
  uint64_t steps = 0;                              ///< wave instructions
  std::array<uint64_t, kOpClasses> by_class = {};  ///< of them
  /// Global and scalar memory, [load, store][workgroup, device, system]: by the policy bits of the
  /// instruction. An atomic is a store. gfx90a's bits do not tell a device from a system scope.
  uint64_t bytes[2][3] = {};
  uint64_t remote_bytes[2] = {};  ///< of them, in another device's memory
  uint64_t lds_bytes = 0;
  uint64_t lds_bank_conflicts = 0;  ///< 0 unless they are counted: see bank_conflicts.h
  uint64_t mfmas = 0;
  uint64_t barriers = 0;  ///< times that a wave reached one
  uint64_t sleeps = 0;    ///< s_sleep
  uint64_t parks = 0;     ///< times that a spinning wave was set aside until its memory changed

  void add(const Counters& other);
};

}  // namespace baton::emulator
