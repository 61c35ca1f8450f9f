// Running small kernels on the emulator: what the DSL's operations do, and not how they are
// spelled.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/object/handoff_protocol.h"
#include "runtime/object/record.h"
#include "tests/dsl/dsl_trace.h"

namespace baton::tests {

inline constexpr int kLanes = 512, kWorkgroups = 4;
inline constexpr int kThreads = kLanes * kWorkgroups;
inline constexpr int kOutputs = 8;  ///< words that each thread may leave
inline constexpr int kRank = 3, kSlot = 7;
inline constexpr uint32_t kEpoch = 5;

/// What a kernel under test works with: `in` as given, `out` with kOutputs x kThreads words of
/// zero, hand-off memory of rank kRank of 8, slot kSlot. Sentinel regions are armed.
struct Bench {
  dsl::Buffer<dsl::U32> in, out;
  dsl::Handoffs handoffs;
  dsl::I32 rank;
  dsl::I32 epoch;  ///< of this launch

  /// This thread's number among all, and where it leaves its word `k`.
  dsl::I32 thread() const { return dsl::cta_id() * kLanes + dsl::thread_id(); }
  void leave(int k, const dsl::U32& word) const { out.store(k * kThreads + thread(), word); }
  void leave(int k, const dsl::I32& value) const { leave(k, dsl::as_unsigned(value)); }
  void leave(int k, const dsl::F32& value) const { leave(k, dsl::bitcast<dsl::U32>(value)); }
};

using BenchBody = std::function<void(const Bench&)>;

struct RunOptions {
  std::vector<uint32_t> epochs = {kEpoch};  ///< of one launch each, on the same hand-off memory
  bool diag = false;                        ///< every wait is bounded
  bool timeline = false;
};

/// What one launch left.
struct LaunchResult {
  std::vector<uint32_t> out;     ///< word k of thread t is at k x kThreads + t
  std::vector<DiagRecord> diag;  ///< one a workgroup; cleared before the launch
  std::vector<int64_t> stamps;   ///< [kWorkgroups, 2 x record.timeline.size()]
};

struct RunResult {
  std::vector<LaunchResult> launches;
  Record record;
  Bytes scratch, peer;  ///< behind the last launch: scratch, and rank kRank's peer buffer

  /// The words of a sentinel region as they lie, in the half of a step with this epoch.
  std::vector<uint32_t> words_of(const std::string& region, uint32_t epoch) const;
};

RunResult run_with(const RunOptions& options, const std::string& chip,
                   const std::vector<uint32_t>& in, const BenchBody& body);

/// The words of `out` behind one launch.
std::vector<uint32_t> run_on(const std::string& chip, const std::vector<uint32_t>& in,
                             const BenchBody& body);

}  // namespace baton::tests
