// One kernel on all its ranks in one process: buffers from host tensors, steps, results.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "runtime/runner.h"

namespace baton {

class Collective {
 public:
  /// One device a rank: kRanks of them for a kernel that has peers, else 1 .. kRanks, which know
  /// nothing of each other. `object` must outlive this. Throws Error (user) for another number.
  Collective(std::span<Device* const> devices, const CodeObject& object);
  ~Collective();
  Collective(const Collective&) = delete;

  // The three below throw Error (user) when the kernel has no such argument, or it is the runner's.

  /// The contents of a buffer argument on `rank`: always as many bytes, of the argument's dtype
  /// and, where the kernel names a shape, of as many elements.
  void set_tensor(int rank, const std::string& name, const Tensor& tensor);
  /// A buffer argument that is left out: its address is 0 on every rank, until tensors are set.
  void set_null(const std::string& name);
  /// The value of an i32 or i64 argument, the same on every rank.
  void set_value(const std::string& name, uint64_t value);

  /// From now on `rank` takes no part in launches: its peers wait in vain for what it would put.
  void leave_out(int rank) { left_out_.at(static_cast<size_t>(rank)) = true; }

  /// Begins a step on every rank, in stream order; on none when Runner::require_may_go_on() throws.
  /// Before the first one, every buffer that the kernel only writes and that is not left out is
  /// allocated, filled with bytes 0xFF.
  void launch();
  /// Waits for all ranks; errors of the launches are thrown here.
  void synchronize();
  void step() {
    launch();
    synchronize();
  }

  /// Keeps what the sentinel region holds now on every rank, for regions(); the next launch forgets
  /// it. For a launch that is paused before it re-arms: when it pauses more than once, each word is
  /// kept as it was when it was first seen to have arrived.
  void keep_region(const std::string& name);

  /// Every argument that the kernel writes and that is not left out, by name.
  TensorMap outputs(int rank);
  /// The regions as keep_region() found them in this step, else as they are.
  TensorMap regions(int rank);
  /// Words of any rank that should be armed and are not, at most `limit`.
  std::vector<UnarmedWord> unarmed_words(size_t limit);
  int ranks() const { return static_cast<int>(runners_.size()); }
  Runner& rank(int rank) { return *runners_.at(static_cast<size_t>(rank)); }
  const Record& record() const { return object_.record; }
  bool fits_chip() const { return runners_.front()->fits_chip(); }
  /// The region, index and rank behind an address, or empty.
  std::string describe(DeviceAddress address) const;
  /// What this step still lacks of the region behind an address, or empty: of the words at
  /// addresses that are `awaited`, since a step need not use all of a region.
  std::string describe_missing(DeviceAddress address,
                               const std::function<bool(DeviceAddress)>& awaited) const;

 private:
  struct Buffer {
    DeviceMemory memory;
    Tensor layout;  ///< dtype and shape; no bytes
    uint64_t bytes;
  };
  /// The caller's argument of that name. `kind` says in words what `is` asks.
  const RecordArgument& argument(const std::string& name, std::string_view kind,
                                 bool (*is)(ArgumentKind)) const;
  const RecordArgument& buffer_argument(const std::string& name) const;
  void allocate_outputs();

  const CodeObject& object_;
  std::array<std::map<std::string, Buffer>, kRanks> buffers_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::vector<KernelArguments> arguments_;      ///< a rank's each
  std::set<std::string> null_;                  ///< buffer arguments that are left out
  std::array<TensorMap, kRanks> kept_regions_;  ///< of this step
  std::array<bool, kRanks> left_out_{};
};

}  // namespace baton
