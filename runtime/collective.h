// One kernel on those of its ranks that live in this process: all of them, or one. Buffers from
// host tensors, steps, results.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "runtime/runner.h"

namespace baton {

/// What a process brings to a collective of its rank; both must outlive it.
struct RankShare {
  Device& device;
  const CodeObject& object;
};

class Collective {
 public:
  // Both throw what Runner's constructor throws, so for a GPU that the grid would hang on.

  /// One device a rank: kRanks of them for a kernel that has peers, else 1 .. kRanks, which know
  /// nothing of each other. `object` must outlive this. Throws Error (user) for another number.
  Collective(std::span<Device* const> devices, const CodeObject& object);
  /// The rank of `exchange`, on `device`; every rank lives in a process of its own. Collective: all
  /// ranks make theirs, or each throws the same Error, which names the first rank that failed.
  /// `exchange` must outlive this.
  Collective(Exchange& exchange, Device& device, const CodeObject& object);
  /// The same of what `bring` gives: a rank that fails to find its device or its code fails in
  /// agreement, where one that failed before the constructor would keep its peers waiting.
  Collective(Exchange& exchange, const std::function<RankShare()>& bring);
  /// Waits for the launches first. Of ranks in several processes the peer buffers stay allocated
  /// unless disconnect() came before.
  ~Collective();
  Collective(const Collective&) = delete;

  /// The last thing that ranks in several processes do, all of them: waits for the launches of all,
  /// then lets go of the peers' memory. When it fails on one, each throws the same Error, and the
  /// peer buffers stay allocated until their processes end. Does nothing for ranks in one process,
  /// and the second time, also behind a failure.
  void disconnect();

  // `rank` is below always one of ranks(); any other is an Error (user).

  // The three below throw Error (user) when the kernel has no such argument, or it is the runner's.

  /// The contents of a buffer argument on `rank`: always as many bytes, of the argument's dtype
  /// and, where the kernel names a shape, of as many elements.
  void set_tensor(int rank, const std::string& name, const Tensor& tensor);
  /// A buffer argument that is left out: its address is 0 on every rank, until tensors are set.
  void set_null(const std::string& name);
  /// The value of an i32 or i64 argument, the same on every rank.
  void set_value(const std::string& name, uint64_t value);

  /// From now on `rank` takes no part in launches: its peers wait in vain for what it would put.
  void leave_out(int rank) { left_out_[index_of(rank)] = true; }

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
  /// The regions as keep_region() found them in this step, else as they are. A sentinel region that
  /// was not kept is left out: its readers have re-armed it.
  TensorMap regions(int rank);
  /// Words of any rank that should be armed and are not, at most `limit`.
  std::vector<UnarmedWord> unarmed_words(size_t limit);
  /// Those that live in this process, ascending.
  std::span<const int> ranks() const { return ranks_; }
  Runner& rank(int rank) { return *runners_[index_of(rank)]; }
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
  void add_rank(Device& device, int rank);
  /// Where a rank stands in the lists below.
  size_t index_of(int rank) const;

  Collective(Exchange& exchange, const RankShare& share)
      : Collective(exchange, share.device, share.object) {}

  const CodeObject& object_;
  Exchange* exchange_ = nullptr;  ///< null while not connected to other processes
  std::vector<int> ranks_;
  std::array<std::map<std::string, Buffer>, kRanks> buffers_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::vector<KernelArguments> arguments_;      ///< a rank's each
  std::set<std::string> null_;                  ///< buffer arguments that are left out
  std::array<TensorMap, kRanks> kept_regions_;  ///< of this step
  std::array<bool, kRanks> left_out_{};
};

}  // namespace baton
