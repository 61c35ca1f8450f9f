// One kernel on all 8 ranks of one process: buffers from host tensors, steps, results.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "runtime/runner.h"

namespace baton {

class Collective {
 public:
  /// One device a rank, kRanks of them. `object` must outlive this.
  Collective(std::span<Device* const> devices, const CodeObject& object);
  ~Collective();
  Collective(const Collective&) = delete;

  /// The contents of a buffer argument on `rank`. Throws Error (user) when there is no such
  /// argument.
  void set_tensor(int rank, const std::string& name, const Tensor& tensor);
  /// The value of an integer argument, the same on every rank.
  void set_value(const std::string& name, uint64_t value);

  /// Launches on every rank and waits for all. Before the first step, every buffer that the kernel
  /// only writes is allocated, filled with bytes 0xFF.
  void step();

  /// Every argument that the kernel writes, by name.
  TensorMap outputs(int rank);
  TensorMap regions(int rank) { return runners_.at(static_cast<size_t>(rank))->read_regions(); }
  bool fits_chip() const { return runners_.front()->fits_chip(); }
  /// The region, index and rank behind an address, or empty.
  std::string describe(DeviceAddress address) const;

 private:
  struct Buffer {
    DeviceAddress address;
    Tensor layout;  ///< dtype and shape; no bytes
    uint64_t bytes;
  };
  const RecordArgument& argument(const std::string& name, ArgumentKind kind) const;
  void allocate_outputs();

  const CodeObject& object_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::array<std::map<std::string, Buffer>, kRanks> buffers_;
  ArgumentValues values_;
};

}  // namespace baton
