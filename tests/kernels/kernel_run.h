// A kernel run on all its ranks, emulated, and compared with its reference.
#pragma once

#include <optional>
#include <string>

#include "builds/builder.h"
#include "builds/families.h"
#include "builds/kernel_check.h"
#include "runtime/emulator/attend.h"

namespace baton::tests {

struct RunOptions {
  int threads = 1;
  std::optional<uint64_t> schedule = {};  ///< seed of the interleaving
  int steps = 1;
  uint64_t input_seed = 1;
  bool check_uninit = false;
  std::vector<emulator::Delay> delays = {};
};

/// Emulated ranks, as many as the key's kernel runs on, with one code object.
class EmulatedRanks {
 public:
  EmulatedRanks(const BuildKey& key, CodeObject object, const RunOptions& options);

  emulator::Emulator& emulator() { return emulator_; }
  Collective& collective() { return *collective_; }

 private:
  CodeObject object_;
  emulator::Emulator emulator_;
  std::optional<Collective> collective_;
};

struct RunResult {
  builds::RankMaps outputs;           ///< of the last step
  std::vector<std::string> failures;  ///< of every step, one line each
  size_t comparisons = 0;
};

/// Every step works on inputs of its own, so that a stale word of an earlier step shows.
RunResult run_kernel(const BuildKey& key, const CodeObject& object, const RunOptions& options);

/// What the ranks have written.
builds::RankMaps outputs_of(Collective& collective);

/// "x_out of rank 3" for each tensor whose bytes differ.
std::vector<std::string> differences(const builds::RankMaps& actual,
                                     const builds::RankMaps& expected);

}  // namespace baton::tests
