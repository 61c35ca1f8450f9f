// N devices of one chip in this process: the code-object emulator behind the device interface.
//
//   Emulator emulator({.chip = "gfx950", .devices = 8, .seed = 7});
//   Device& rank0 = emulator.device(0);
//   ...allocate, write, load, launch on every device's stream...
//   emulator.synchronize();
//
// Work starts when somebody waits for it, so that what was launched on all devices runs together.
// s_memrealtime ticks once for every 512 wave instructions of the machine, and jumps ahead when all
// waves wait and one that waits reads it: a wait that is bounded by the clock ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/emulator/counters.h"
#include "runtime/emulator/diagnosis.h"
#include "runtime/emulator/handlers.h"
#include "runtime/emulator/mfma_rule.h"
#include "runtime/emulator/report.h"

namespace baton::emulator {

/// Holds one device back: in each launch on it, a workgroup is not scheduled for `cycles` steps
/// when the first of its waves is about to enter the stage. A step is one wave instruction executed
/// by any wave of the machine, which is deterministic under a seed and with one thread; with more
/// it is a best effort. A delay ends early when all else waits: it never makes a hang.
struct Delay {
  int device = 0;
  std::string stage;
  uint64_t cycles = 0;
};

struct EmulatorOptions {
  std::string chip = "gfx950";
  int devices = 1;
  /// Set: one deterministic interleaving of all waves, one host thread. Not set: `threads` host
  /// threads, each running a workgroup until it waits; with one thread that is deterministic too.
  std::optional<uint64_t> seed = std::nullopt;
  int threads = 1;
  MfmaRule mfma = MfmaRule::exact;
  HostLevel host_level = best_host_level();
  /// Bytes of registers and LDS of workgroups in flight.
  uint64_t resident_bytes = uint64_t{8} << 30;
  /// At most 64. A stage that no kernel has is an Error (user) when the first launch runs.
  std::vector<Delay> delays = {};
  /// LDS bank conflicts are counted (bank_conflicts.h); launches run slower.
  bool count_bank_conflicts = false;
  /// Uses of registers and LDS that nothing has written are found (uninit.h); a launch that has any
  /// ends with an Error (failed_check) that lists them. Launches run many times slower.
  bool check_uninit = false;
  /// Set: a launch that has not ended after about so many wave instructions of the machine, counted
  /// since the start, ends with an Error (failed_check). Looked at when a workgroup's turn is over.
  std::optional<uint64_t> max_steps = std::nullopt;
  /// How long other host threads are given to launch or write what a stalled kernel waits for.
  int stall_grace_ms = 0;
};

class Emulator {
 public:
  /// Throws Error (user) for an unknown chip, a bad number of devices or threads, or a host level
  /// that this CPU does not run.
  explicit Emulator(EmulatorOptions options);
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  const EmulatorOptions& options() const;
  Device& device(int ordinal);
  /// Waits for all streams of all devices. Throws Error (failed_check) on a fault or a hang.
  void synchronize();

  /// For the report of a hang: what an address means, and what is missing around it.
  void set_names(Names names);

  /// In launches from now on every workgroup pauses before its first store of each of the hand-offs
  /// ("rearm ar"), until nothing else can run; then `when_all_wait` is called with the hand-off,
  /// and they go on. It may read memory, where the words that are about to be re-armed still are;
  /// it must not throw. At most 64 hand-offs.
  void pause_before(std::vector<std::string> handoffs,
                    std::function<void(const std::string& handoff)> when_all_wait);

  /// What all launches since the start did.
  RunReport report() const;

 private:
  class Platform;
  class EmulatedDevice;
  std::unique_ptr<Platform> platform_;
};

}  // namespace baton::emulator
