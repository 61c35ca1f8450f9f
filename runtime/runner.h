// One rank's share of a collective launch: its buffers, its arguments, its regions.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/device/device_memory.h"
#include "runtime/kernel_arguments.h"
#include "runtime/object/code_object.h"
#include "runtime/object/handoff_protocol.h"
#include "runtime/ranks/peer_table.h"
#include "runtime/tensors/tensor.h"

namespace baton {

/// A word of a sentinel region that should be armed and is not.
struct UnarmedWord {
  std::string place;  ///< "ar[3, 0, 512] of rank 5"
  uint32_t word;
};

/// How often a region lies in memory: one in the peer buffer has a half for odd and one for even
/// steps.
uint32_t copies(const RecordRegion& region);

/// Whether the runner alone gives this argument: scratch, peers, rank, epoch, diag or tl.
bool is_runner_argument(std::string_view name);

class Runner {
 public:
  /// Loads the code object and allocates scratch, epoch, this rank's peer buffer, and what
  /// diagnostics and timeline builds write, all zero but for the sentinel regions, which are armed.
  /// Throws Error: user for a rank outside 0 .. 7, a record that does not belong to the bytes, or
  /// another chip; environment, before anything is allocated, when the grid would hang on the
  /// device: it neither fits_chip() nor does the device hold every workgroup.
  Runner(Device& device, const CodeObject& object, int rank);
  Runner(const Runner&) = delete;
  /// Waits for the launches first. Of one that is still connected to other processes the peer
  /// buffer stays allocated until this process ends: a peer may have it open.
  ~Runner();

  /// Hands every rank the table of all ranks' peer buffers. All ranks are in this process. The
  /// Error names the rank on which it failed.
  static void connect(std::span<const std::unique_ptr<Runner>> ranks);
  /// The same for ranks in processes of their own, of which this runner is the exchange's. Every
  /// rank calls it; when it fails on one, each throws the same Error and is not connected.
  void connect(Exchange& exchange);
  /// Ends that, so that every rank may free its memory. Every rank calls it; it waits for the
  /// launches of all. When it fails on one, each throws the same Error, and all peer buffers stay
  /// allocated until their processes end. Does nothing for a runner that is not connected to other
  /// processes, and the second time, also behind a failure.
  void disconnect(Exchange& exchange);

  /// Whether the device's compute units keep the whole grid resident, as workgroups must be that
  /// wait for each other; true for a kernel without regions, where none does.
  bool fits_chip() const;

  /// Throws Error: user behind disconnect(); failed_check when a wait of this build gave up, as
  /// synchronize() found, and the build has sentinel regions: a word that came too late would look
  /// fresh to a later step.
  void require_may_go_on() const;

  /// A kernarg segment with the runner's own arguments in it, for the caller's to be set. Launches
  /// whose arguments differ, such as those of the layers of a model, keep one each.
  KernelArguments arguments() const;

  // Both require_may_go_on().

  /// epoch += 1, in stream order, once a step; a diagnostics build's records are cleared.
  void step_begin();

  /// Launches with `arguments`. Takes no memory: a launch is a call of the device. They may be
  /// changed and launched again at once. Throws Error (user) unless arguments() of this runner
  /// began them.
  void launch(const KernelArguments& arguments);
  /// Waits for everything; errors of the launches are thrown here.
  void synchronize();
  /// Waits as well, for who unwinds: what went wrong is lost.
  void settle() noexcept;

  /// A region of the last step in logical shape and type: tags stripped, sentinel blocking undone.
  /// Words that have been re-armed read as the sentinel. Throws Error (user) for an unknown name.
  Tensor read_region(const std::string& name);

  /// The words of sentinel regions that are not armed, in scratch and in both halves of the peer
  /// buffer, at most `limit` of them. There are none between two steps: once every rank has been
  /// synchronized.
  std::vector<UnarmedWord> unarmed_words(size_t limit);

  /// A diagnostics build's records of the last step, of the workgroups whose wait gave up.
  std::vector<DiagRecord> read_diag();

  /// A timeline build's stamps of the last launch: [workgroups, 2 x record.timeline.size()].
  std::vector<int64_t> read_timeline();

  /// "part[3, 0, 2, 1] of rank 5" for an address in one of the regions, else empty.
  std::string describe(DeviceAddress address) const;
  /// "3584 words of it have not arrived, the first is ar[5, 0, 0]": what this step still lacks of
  /// the region that holds `address`, as far as words are `awaited`; empty when it lacks nothing or
  /// there is no such region.
  std::string describe_missing(DeviceAddress address,
                               const std::function<bool(DeviceAddress)>& awaited);

  Device& device() { return device_; }
  int rank() const { return rank_; }

 private:
  uint64_t resident_workgroups() const;
  void require_progress() const;
  DeviceMemory allocate_zeroed(uint64_t bytes, MemoryKind kind);
  /// Where `region` starts, in the half that a step of this parity uses.
  DeviceAddress address_of(const RecordRegion& region, uint32_t parity) const;
  void arm(const RecordRegion& region);
  Tensor read(const RecordRegion& region);
  /// The region, and in which half of the peer buffer, that holds an address; null when none does.
  std::pair<const RecordRegion*, uint32_t> region_at(DeviceAddress address) const;

  Device& device_;
  const CodeObject& object_;
  int rank_;
  uint32_t epoch_ = 0;
  bool disconnected_ = false;
  bool gave_up_ = false;  ///< a wait of a build with sentinel regions
  // In this order, so that they go from the last to the first: the stream, the code, the memory of
  // peers, and the buffers.
  DeviceMemory scratch_, epoch_memory_, peer_buffer_, peer_table_, diag_, timeline_;
  std::unique_ptr<PeerTable> peers_;  ///< of other processes
  std::unique_ptr<Module> module_;
  const Function* function_;  ///< of the module
  LaunchShape shape_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace baton
