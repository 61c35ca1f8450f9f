// The flags that say how the emulator runs, which `baton run` and `baton emu` share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/emulator/emulator.h"

namespace CLI {
class App;
}

namespace baton::cli {

struct EmulatorFlags {
  std::optional<uint64_t> seed;
  std::optional<int> threads;
  std::string mfma = "exact";
  std::optional<std::string> check;

  /// Adds --seed (described by `seed_help`), --threads, --mfma and --check. The flags must outlive
  /// `parser`.
  void add_to(CLI::App& parser, const std::string& seed_help);

  /// Throws Error (user) for a word that they do not know.
  emulator::EmulatorOptions options(std::string_view chip, int devices) const;
};

}  // namespace baton::cli
