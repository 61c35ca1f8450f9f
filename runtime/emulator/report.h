// What launches did: counts, and how faithfully.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/emulator/counters.h"
#include "runtime/emulator/mfma_rule.h"
#include "runtime/emulator/program.h"

namespace baton::emulator {

struct RunReport {
  std::string chip;
  MfmaRule mfma = MfmaRule::exact;
  uint64_t launches = 0;
  Counters counters;
  std::map<std::string, uint64_t> instructions;  ///< wave instructions by mnemonic
  std::map<std::string, uint64_t> classes;       ///< by class

  void add(const Program& program, const std::vector<uint64_t>& hits);

  /// "1234 instructions exact; v_exp_f32 (12) correctly rounded where hardware is within 1 ulp;
  /// MFMA: the CDNA3 rule extended to gfx950".
  std::string fidelity() const;
};

std::string_view name(OpClass op_class);

}  // namespace baton::emulator
