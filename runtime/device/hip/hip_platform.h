// The AMD GPUs of this machine, through HIP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace baton::hip {

class Library;

/// A GPU that HIP sees.
struct Gpu {
  int ordinal = 0;
  std::string name;  ///< "AMD Instinct MI355X"
  std::string chip;  ///< "gfx950", without feature suffixes; empty when HIP does not say
};

class Platform {
 public:
  /// Throws Error (environment), one line: no library, or it does not start. A machine without a
  /// GPU is no error: it has none.
  Platform();
  ~Platform();
  Platform(const Platform&) = delete;

  const std::string& library() const;
  const std::vector<Gpu>& gpus() const { return gpus_; }
  /// Lives as long as the platform. Throws Error: user for an ordinal that is not there,
  /// environment for a chip that Baton does not know.
  Device& device(int ordinal);

 private:
  std::unique_ptr<Library> library_;
  std::vector<Gpu> gpus_;
  std::vector<std::unique_ptr<Device>> devices_;  ///< made when asked for
};

}  // namespace baton::hip
