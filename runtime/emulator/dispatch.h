// A launch in flight, its workgroups and the state that its waves share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/emulator/memory.h"
#include "runtime/emulator/mfma_rule.h"
#include "runtime/emulator/program.h"
#include "runtime/emulator/shadow.h"
#include "runtime/emulator/wave.h"

namespace baton::emulator {

class UninitLog;
class UninitTable;

/// What of a kernel a launch needs; lives as long as its module.
struct KernelCode {
  std::shared_ptr<const Program> program;
  uint64_t code_base = 0;  ///< device address of the image's vaddr 0
  uint32_t entry = 0;      ///< index of the first instruction
  Kernel kernel;           ///< descriptor and metadata
};

/// Ticks of s_memrealtime (100 MHz), the same for all devices: one for every 512 wave instructions
/// that any wave of the machine executed. When all that lives waits, and some of it reads the clock
/// while it does, time jumps.
struct Clock {
  std::atomic<uint64_t> steps{0};    ///< wave instructions in turns that ended
  std::atomic<uint64_t> skipped{1};  ///< ticks; a clock that reads 0 would say "never"
  static constexpr int kStepsPerTickShift = 9;

  /// `steps_since`: of the asking wave's turn.
  uint64_t now(uint64_t steps_since = 0) const {
    return ((steps.load(std::memory_order_relaxed) + steps_since) >> kStepsPerTickShift) +
           skipped.load(std::memory_order_relaxed);
  }
};

/// Holds each workgroup of a launch back once: for so many wave instructions of the machine, when
/// one of its waves is about to enter the stage. It ends early when nothing else can run.
struct StageDelay {
  uint16_t stage;  ///< in Program::stages()
  uint64_t steps;
};

/// The steps of a pause, which ends when nothing else can run.
inline constexpr uint64_t kPauseSteps = uint64_t{1} << 62;

struct Dispatch {
  const KernelCode* code = nullptr;
  int device = 0;
  LaunchShape shape;
  uint32_t lds_bytes = 0;
  AddressSpace* memory = nullptr;
  uint64_t kernarg = 0;  ///< device address
  const uint8_t* kernarg_host = nullptr;
  uint64_t packet = 0;  ///< device address of the AQL dispatch packet
  uint64_t scratch =
      0;  ///< device address of all waves' private memory; 0 when the kernel has none
  uint8_t* scratch_host = nullptr;
  uint64_t scratch_wave_bytes = 0;
  const Clock* clock = nullptr;
  MfmaRule mfma = MfmaRule::exact;
  uint64_t reachable = ~uint64_t{0};  ///< devices whose memory it may touch, a bit each

  std::vector<StageDelay> delays;
  /// By instruction: 1 + the number of the pause that a workgroup makes before the first such it
  /// meets, or 0.
  std::vector<uint8_t> pauses;
  bool count_bank_conflicts = false;
  const UninitTable* uninit = nullptr;  ///< set when undefined bits are followed
  UninitLog* uninit_log = nullptr;
  bool observed() const {
    return count_bank_conflicts || uninit || !delays.empty() || !pauses.empty();
  }

  // What the scheduler keeps.
  uint64_t workgroups = 0;
  uint64_t admitted = 0;
  uint64_t retired = 0;
  std::vector<Tally> tallies;  ///< by host thread
};

/// The flat apertures, as the ROCm driver places them.
inline constexpr uint64_t kSharedAperture = uint64_t{0x10000} << 32;
inline constexpr uint64_t kPrivateAperture = uint64_t{0x20000} << 32;

/// Where a workgroup stands with the scheduler.
enum class GroupState : uint8_t { idle, queued, running, held };

struct Workgroup {
  Dispatch* dispatch = nullptr;
  uint32_t id[3] = {};
  uint64_t number = 0;  ///< linear
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<uint8_t> lds;
  std::unique_ptr<uint32_t[]> registers;  ///< the waves' register files, one behind the other
  uint64_t register_words = 0;            ///< a wave
  std::unique_ptr<GroupShadow> shadow;    ///< set when undefined bits are followed
  std::vector<std::unique_ptr<WaveShadow>> wave_shadows;
  uint32_t lds_version = 0;
  int live = 0;
  int at_barrier = 0;
  GroupState state = GroupState::idle;
  int turns = 0;              ///< since others had theirs
  bool waited = false;        ///< in this turn a wave went to sleep
  std::vector<Wave*> woken;   ///< while running: waves to set going afterwards
  uint64_t delays_taken = 0;  ///< a bit each of the launch's delays
  uint64_t hold_steps = 0;    ///< of the delay or pause that begins
  uint64_t pauses_taken = 0;  ///< a bit each
  int pause = 0;              ///< the number of the pause that it makes
};

}  // namespace baton::emulator
