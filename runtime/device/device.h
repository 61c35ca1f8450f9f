// What a server needs of a GPU, whoever stands behind it: the HIP driver or the emulator.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/object/kernel_metadata.h"
#include "runtime/target/target.h"

namespace baton {

/// An address in device memory; the same on every device of the process that may reach it.
using DeviceAddress = uint64_t;

enum class MemoryKind : uint8_t {
  normal,       ///< coherent inside a launch at device scope
  fine_grained  ///< uncached: peers may poll it during a launch
};

/// Names an allocation to other processes of this machine.
struct MemoryHandle {
  std::array<uint8_t, 64> bytes;
};

/// Workgroups, lanes a workgroup, and LDS bytes beyond what the kernel declares.
struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t workgroup[3] = {1, 1, 1};
  uint32_t dynamic_lds_bytes = 0;
};

/// Commands of one stream run in order; those of different streams in any order.
class Stream {
 public:
  virtual ~Stream() = default;
};

/// A point in a stream.
class Event {
 public:
  virtual ~Event() = default;
};

/// A kernel of a loaded module.
class Function {
 public:
  virtual ~Function() = default;
  virtual const KernelMetadata& metadata() const = 0;
};

/// A loaded code object. Kernels of it must not be in flight when it is destroyed.
class Module {
 public:
  virtual ~Module() = default;
  /// Throws Error (user) that lists the kernels there are. Lives as long as the module.
  virtual const Function& function(std::string_view name) const = 0;
};

/// All calls throw Error: `user` for a wrong argument, `environment` for what the machine lacks,
/// `failed_check` for a launch that went wrong (a memory fault, a hang). An error of asynchronous
/// work is thrown by the next call that waits for it, and the device does nothing more after it.
class Device {
 public:
  virtual ~Device() = default;

  virtual int ordinal() const = 0;
  virtual const Target& target() const = 0;
  /// "emulated gfx950 (8 of 8)".
  virtual std::string description() const = 0;

  virtual DeviceAddress allocate(uint64_t bytes, MemoryKind kind) = 0;
  /// Waits until the device is idle. `address` as allocate() gave it.
  virtual void release(DeviceAddress address) = 0;

  /// Synchronous copies; they do not wait for streams.
  virtual void write(DeviceAddress to, ByteView bytes) = 0;
  virtual void read(DeviceAddress from, std::span<uint8_t> bytes) = 0;

  virtual std::unique_ptr<Stream> create_stream() = 0;
  virtual std::unique_ptr<Event> create_event() = 0;

  /// In stream order. `bytes` is copied before the call returns.
  virtual void write_async(DeviceAddress to, ByteView bytes, Stream& stream) = 0;
  /// In stream order; `bytes` must live until the stream has been waited for.
  virtual void read_async(DeviceAddress from, std::span<uint8_t> bytes, Stream& stream) = 0;
  virtual void copy_async(DeviceAddress to, DeviceAddress from, uint64_t bytes, Stream& stream) = 0;
  virtual void fill_async(DeviceAddress to, uint8_t value, uint64_t bytes, Stream& stream) = 0;
  /// `to` is aligned to a word.
  virtual void fill_words_async(DeviceAddress to, uint32_t value, uint64_t words,
                                Stream& stream) = 0;

  virtual void record(Event& event, Stream& stream) = 0;
  /// What comes behind it in `stream` waits for the event, also one of another device.
  virtual void wait(Event& event, Stream& stream) = 0;
  /// True when everything before the event's last record is done.
  virtual bool query(Event& event) = 0;
  virtual void synchronize(Event& event) = 0;

  /// Throws Error (user) when the code object is not for this chip.
  virtual std::unique_ptr<Module> load(ByteView code_object) = 0;

  /// `arguments` is the kernarg segment's explicit part, packed at the metadata's offsets; hidden
  /// arguments are filled in by the device.
  virtual void launch(const Function& function, const LaunchShape& shape, ByteView arguments,
                      Stream& stream) = 0;

  virtual void synchronize(Stream& stream) = 0;
  /// Waits for all streams of this device.
  virtual void synchronize() = 0;

  /// Lets kernels of this device reach the memory of `peer`.
  virtual void enable_peer_access(Device& peer) = 0;

  /// Memory of another process, for a device that can: the emulator's are all in one process, and
  /// throw Error (environment). `address` as allocate() gave it; it must outlive all who import it.
  virtual MemoryHandle export_memory(DeviceAddress address);
  virtual DeviceAddress import_memory(const MemoryHandle& handle);
  /// `address` as import_memory() gave it.
  virtual void close_imported(DeviceAddress address);

  /// Workgroups of that shape that a compute unit holds at once; 0 when it cannot hold one.
  virtual int workgroups_per_cu(const Function& function, const LaunchShape& shape) = 0;
  /// Those that a launch may use: products of a chip differ, and a partition has a share.
  virtual int compute_units() = 0;
  /// Whether workgroups that wait for each other make progress also where not all fit at once.
  virtual bool holds_every_workgroup() const = 0;
};

}  // namespace baton
