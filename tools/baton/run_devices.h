// `baton run --device`: the devices of a run's ranks, emulated or through HIP.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/collective.h"
#include "runtime/device/hip/hip_platform.h"
#include "runtime/emulator/emulator.h"
#include "runtime/key/build_key.h"
#include "tools/baton/run_options.h"

namespace baton::cli {

class RunDevices {
 public:
  /// As options.device says: `emu`, `hip`, or `auto`, which is hip where HIP sees enough GPUs of
  /// the key's chip and no flag asks for more than they have. Throws Error: user for a flag that
  /// the device does not have, environment when there are not enough.
  RunDevices(const RunOptions& options, const BuildKey& key);

  /// One a rank.
  std::span<Device* const> all() const { return devices_; }
  /// Null on GPUs.
  const emulator::Emulator* emulator() const { return emulator_.get(); }

  /// Tells the emulator what runs on it. Throws Error (environment) when a GPU would not keep the
  /// whole grid resident, and the emulator, which does, remarks on it.
  void attend(Collective& collective);

  std::string_view name() const { return emulator_ ? "emu" : "hip"; }
  std::string ranks_text() const;       ///< "8 emulated ranks of gfx950"
  std::string_view clock_text() const;  ///< whose time a timeline shows

 private:
  bool find_gpus(int ranks, bool required);

  std::string chip_, family_;
  // Before what lives on them.
  std::unique_ptr<hip::Platform> platform_;
  std::unique_ptr<emulator::Emulator> emulator_;
  std::vector<Device*> devices_;
};

}  // namespace baton::cli
