// The architectural state of a wave and of its workgroup.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/emulator/counters.h"
#include "runtime/emulator/instruction.h"
#include "runtime/emulator/mfma_rule.h"

namespace baton::emulator {

class AddressSpace;
class Program;
struct Allocation;
struct Dispatch;
struct Workgroup;
class WaveShadow;

/// What the host thread that runs a wave collects.
struct Worker {
  std::vector<uint32_t> woken;  ///< watched lines that were written in this slice
  Tally* tally = nullptr;       ///< of the running launch
  uint64_t steps = 0;           ///< wave instructions of this turn
};

/// The chips' generations, where their instructions differ under one name.
enum class Generation : uint8_t { cdna2, cdna3, cdna4 };

/// Why a wave's slice ended.
/// `held`: a delay begins; the next instruction has not run.
/// `indexing`: not an end; the step loop must go on with moved registers.
enum class Stop : uint8_t { none, slice, sleep, barrier, ended, held, indexing };

/// Where a wave stands with the scheduler.
enum class WaveState : uint8_t { runnable, barrier, parked, ended };

/// A line of memory that a waiting wave has read, and its version then.
struct Watch {
  uint32_t bucket;
  uint32_t version;
};

/// How a wave watches itself spin: a loop iteration that ends where and as it began, having written
/// nothing, repeats until something that it read changes.
struct SpinWatch {
  static constexpr size_t kMaxWatches = 4096;
  bool active = false;  ///< record what is read
  bool pure = false;    ///< nothing was written since the last probe
  bool reads_lds = false;
  bool wrote_lds = false;  ///< in this slice
  bool reads_clock = false;
  uint32_t probe_pc = ~0u;
  bool hashed = false;  ///< state_hash is of the last probe at probe_pc
  uint64_t state_hash = 0;
  uint32_t lds_version = 0;
  uint32_t naps = 0;          ///< parks in a row that ended by the clock
  bool registered = false;    ///< counted as a waiter of its lines
  uint32_t ticket = 0;        ///< the wave's number with the scheduler
  uint64_t last_address = 0;  ///< of the last load, for the report of a hang
  uint64_t last_value = 0;
  uint32_t last_load_pc = 0;
  std::vector<Watch> watch;
};

/// The default MODE: round to nearest even, denormals kept.
inline constexpr uint32_t kModeDefaultFloat = 0xf0;
inline constexpr uint32_t kModeDx10Clamp = 1u << 8;
inline constexpr uint32_t kModeIeee = 1u << 9;

/// Wave's members are part of code that is compiled for several CPUs: never a symbol of their own.
#define BATON_WAVE_INLINE inline __attribute__((always_inline))

/// An operand is not the vector register that its instruction needs.
[[noreturn]] void fault_operand();

struct Wave {
  uint32_t* file[2] = {};  ///< VGPRs, AGPRs: rows of 64 lanes
  uint32_t pc = 0;         ///< index of the next instruction
  bool scc = false;
  Stop stop = Stop::none;
  bool exec_full = true;
  bool exec_lanes_stale = true;
  MfmaRule mfma = MfmaRule::exact;
  Generation generation = Generation::cdna4;
  uint8_t gpr_index_mode = 0;  ///< s_set_gpr_idx_on: sources 0 to 2 and the result move by M0
  uint32_t mode = kModeDefaultFloat | kModeDx10Clamp | kModeIeee;
  int32_t branch_budget = 0;  ///< backward branches until the slice ends
  int32_t memory_budget = 0;  ///< memory instructions until the slice ends; negative: no end
  uint8_t* lds = nullptr;
  uint32_t lds_bytes = 0;
  Workgroup* workgroup = nullptr;
  const Dispatch* dispatch = nullptr;
  AddressSpace* memory = nullptr;
  Worker* worker = nullptr;
  const Allocation* last_allocation = nullptr;
  uint32_t* scratch = nullptr;  ///< of this wave: word d of lane l at 64 d + l
  uint32_t scratch_words = 0;   ///< a lane
  WaveState state = WaveState::runnable;
  int index = 0;                 ///< in the workgroup
  WaveShadow* shadow = nullptr;  ///< set when undefined bits are followed
  SpinWatch spin;
  alignas(64) uint32_t sgpr[kSgprs] = {};
  alignas(64) uint32_t exec_lanes[kLanes];  ///< all ones where EXEC is set, when not stale

  BATON_WAVE_INLINE uint64_t sgpr64(int i) const { return sgpr[i] | uint64_t{sgpr[i + 1]} << 32; }
  BATON_WAVE_INLINE uint64_t exec() const { return sgpr64(kExec); }
  BATON_WAVE_INLINE uint64_t vcc() const { return sgpr64(kVcc); }
  BATON_WAVE_INLINE void exec_changed() {
    exec_full = exec() == ~uint64_t{0};
    exec_lanes_stale = true;
  }
  BATON_WAVE_INLINE void set_sgpr(int i, uint32_t v) {
    sgpr[i] = v;
    if (i >= kExec) exec_changed();
  }
  BATON_WAVE_INLINE void set_sgpr64(int i, uint64_t v) {
    sgpr[i] = static_cast<uint32_t>(v);
    sgpr[i + 1] = static_cast<uint32_t>(v >> 32);
    if (i >= kExec) exec_changed();
  }
  /// Throws Fault when the operand has no such register: an encoding that only looks like its kind.
  BATON_WAVE_INLINE uint32_t* row(const Operand& operand, int word = 0) const {
    if (operand.kind > OperandKind::agpr || word >= operand.words) [[unlikely]]
      fault_operand();
    return file[static_cast<int>(operand.kind)] + (operand.index + word) * kLanes;
  }
};

}  // namespace baton::emulator
