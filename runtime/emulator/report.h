// What launches did: counts, and how faithfully.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/emulator/counters.h"
#include "runtime/emulator/mfma_rule.h"
#include "runtime/emulator/program.h"

namespace baton::emulator {

struct Dispatch;

struct StageReport {
  std::string stage;  ///< empty: code outside all stages
  Counters counters;
};

/// All launches of one kernel of one code object, on all devices.
struct KernelReport {
  std::string kernel;
  uint64_t launches = 0;
  std::vector<StageReport> stages;  ///< those that ran, in the order of the code

  Counters total() const;
};

struct RunReport {
  std::string chip;
  MfmaRule mfma = MfmaRule::exact;
  uint64_t launches = 0;
  Counters counters;                             ///< of all kernels
  std::map<std::string, uint64_t> instructions;  ///< wave instructions by mnemonic
  std::map<std::string, uint64_t> classes;       ///< by class
  std::vector<KernelReport> kernels;             ///< in the order of their first launch
  /// Bytes that kernels on a device stored in a device's memory: [from][to], its own among them.
  std::vector<std::vector<uint64_t>> stored_bytes;

  /// "1234 instructions exact; correctly rounded where hardware is approximate: v_exp_f32 (12);
  /// 96 MFMAs by the published CDNA3 rule".
  std::string fidelity() const;
};

/// Collects the tallies of launches that ended.
class LaunchLog {
 public:
  LaunchLog(std::string chip, MfmaRule mfma, int devices);

  void add(const Dispatch& dispatch);
  RunReport report() const;

 private:
  struct Entry {
    std::shared_ptr<const Program> program;
    std::string kernel;
    uint64_t launches = 0;
    Tally tally;
  };

  RunReport blank_;
  std::vector<Entry> entries_;
};

std::string_view name(OpClass op_class);

}  // namespace baton::emulator
