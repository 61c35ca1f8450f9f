// Running small kernels on the emulator: what the DSL's operations do, and not how they are
// spelled.
#pragma once

#include <string>
#include <vector>

#include "tests/dsl/dsl_trace.h"

namespace baton::tests {

inline constexpr int kLanes = 512, kWorkgroups = 4;
inline constexpr int kThreads = kLanes * kWorkgroups;
inline constexpr int kOutputs = 8;  ///< words that each thread may leave
inline constexpr int kRank = 3;
inline constexpr uint32_t kEpoch = 5;

/// What a kernel under test works with: `in` as given, `out` with kOutputs x kThreads words of
/// zero, hand-off memory of rank kRank of 8, slot 7, epoch kEpoch.
struct Bench {
  dsl::Buffer<dsl::U32> in, out;
  dsl::Handoffs handoffs;
  dsl::I32 rank;

  /// This thread's number among all, and where it leaves its word `k`.
  dsl::I32 thread() const { return dsl::cta_id() * kLanes + dsl::thread_id(); }
  void leave(int k, const dsl::U32& word) const { out.store(k * kThreads + thread(), word); }
  void leave(int k, const dsl::I32& value) const { leave(k, dsl::as_unsigned(value)); }
  void leave(int k, const dsl::F32& value) const { leave(k, dsl::bitcast<dsl::U32>(value)); }
};

using BenchBody = std::function<void(const Bench&)>;

/// The words of `out` behind a launch; word k of thread t is at k x kThreads + t.
std::vector<uint32_t> run_on(const std::string& chip, const std::vector<uint32_t>& in,
                             const BenchBody& body);

}  // namespace baton::tests
