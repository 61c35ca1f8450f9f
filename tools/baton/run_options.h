// What the user says to `baton run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/baton/emulator_flags.h"

namespace baton::cli {

struct RunOptions {
  std::string key, arch;
  std::string device = "auto";
  std::optional<std::string> code, inputs, outputs, regions, timeline;
  EmulatorFlags emulator;
  std::vector<std::string> delays;
  std::vector<int> absent;
  std::vector<std::string> emulator_only;  ///< flags that were given and that GPUs do not have
  std::optional<int> ranks;
  int steps = 1;
  int layer = 0;
  bool json = false;
};

}  // namespace baton::cli
