// `baton run --device`: the devices of a run's ranks, emulated or through HIP.
#pragma once

#include <memory>
#include <optional>
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
  /// the device does not have, environment when there are not enough. `options` must outlive this.
  RunDevices(const RunOptions& options, const BuildKey& key);

  /// All ranks of `object`, which must outlive them, on their devices. Where the machine's GPUs
  /// cannot take them, as when they do not keep the whole grid resident, `auto` goes on with the
  /// emulator and `hip` throws Error (environment). Remarks on what a GPU would not do.
  std::unique_ptr<Collective> start(const CodeObject& object);
  /// Null on GPUs.
  const emulator::Emulator* emulator() const { return emulator_.get(); }

  std::string_view name() const { return emulator_ ? "emu" : "hip"; }
  std::string ranks_text() const;       ///< "8 emulated ranks of gfx950"
  std::string_view clock_text() const;  ///< whose time a timeline shows

 private:
  bool required() const { return options_.device == "hip"; }
  bool find_gpus();
  void emulate();
  std::unique_ptr<Collective> start_on_gpus(const CodeObject& object);

  const RunOptions& options_;
  const std::string chip_, family_;
  const int ranks_;
  // Before what lives on them.
  std::unique_ptr<hip::Platform> platform_;
  std::unique_ptr<emulator::Emulator> emulator_;
  std::vector<Device*> devices_;
};

}  // namespace baton::cli
