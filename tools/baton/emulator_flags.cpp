#include "tools/baton/emulator_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "runtime/base/text.h"
#include "tools/baton/whole_number.h"

namespace baton::cli {

void EmulatorFlags::add_to(CLI::App& parser, const std::string& seed_help) {
  parser.add_option("--seed", seed, seed_help)->check(whole_number<uint64_t>())->type_name("N");
  parser.add_option("--threads", threads, "Host threads (default: one a core)")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  parser
      .add_option("--mfma", mfma,
                  "How matrix instructions round: exact (as the chip does, as far as it is "
                  "published), chain (a plain fp32 chain in k order)")
      ->type_name("exact|chain")
      ->capture_default_str();
  parser
      .add_option("--check", check,
                  "Find uses of registers and LDS that nothing has written; many times slower")
      ->type_name("uninit");
}

emulator::EmulatorOptions EmulatorFlags::options(std::string_view chip, int devices) const {
  if (mfma != "exact" && mfma != "chain") {
    throw Error(ErrorKind::user, fmt::format("--mfma knows no {}", quote(mfma)),
                "give exact or chain");
  }
  if (check && *check != "uninit") {
    throw Error(ErrorKind::user, fmt::format("--check knows no {}", quote(*check)), "give uninit");
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  emulator::EmulatorOptions options;
  options.chip = chip;
  options.devices = devices;
  // An explicit number of threads wins: the seed then only draws the inputs.
  if (!threads) options.seed = seed;
  options.threads = threads.value_or(seed ? 1 : std::max(1, cores));
  options.mfma = mfma == "exact" ? emulator::MfmaRule::exact : emulator::MfmaRule::chain;
  options.check_uninit = check.has_value();
  return options;
}

}  // namespace baton::cli
