// The address space that all emulated devices of a process share. Every allocation is tracked: an
// access that is not wholly inside a live one is a fault.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/emulator/watch.h"

namespace baton::emulator {

struct Allocation {
  uint64_t base = 0;
  uint64_t bytes = 0;
  uint8_t* host = nullptr;
  int device = 0;
  std::string label;  ///< "buffer", "code object", ...
  std::atomic<bool> freed{false};

  bool holds(uint64_t address, uint64_t size) const {
    return address - base < bytes && size <= bytes - (address - base);
  }
};

/// Addresses are the emulation's own, the same in every run: device d's start at (d + 1) << 40.
/// None is used twice, and each allocation is followed by a gap of at least kGap bytes, so that a
/// freed or overrun address is recognised.
class AddressSpace {
 public:
  static constexpr uint64_t kGap = uint64_t{1} << 20;
  static constexpr uint64_t kMaxDeviceBytes = uint64_t{288} << 30;

  AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  /// Zeroed pages of the host stand behind it, touched on first use. Throws Error (environment)
  /// when the device or the host has no room.
  const Allocation& allocate(int device, uint64_t bytes, std::string label);
  /// Throws Error (user) unless `address` is the base of a live allocation.
  void release(uint64_t address);

  /// While pinned, find() may be called from any thread without a lock.
  void pin();
  void unpin();

  /// The live or freed allocation that holds `address`, else null. Only while pinned.
  const Allocation* find(uint64_t address) const;
  /// The host bytes of a range that lies in one live allocation; throws Error (user) otherwise,
  /// saying what the range is for.
  uint8_t* host(uint64_t address, uint64_t size, const char* purpose) const;

  /// "4 bytes at 0x10000001000: 4096 bytes behind the end of buffer 0x.. (4096 bytes, device 0)".
  std::string describe(uint64_t address, uint64_t size) const;

  WatchTable& watch() { return watch_; }

 private:
  using Index = std::vector<const Allocation*>;  ///< sorted by base

  const Allocation* nearest(uint64_t address) const;

  mutable std::mutex mutex_;
  int pins_ = 0;
  std::deque<Allocation> allocations_;
  std::vector<std::unique_ptr<const Index>> indices_;  ///< the last is current; older may be in use
  std::atomic<const Index*> index_{nullptr};
  std::vector<uint64_t> next_;  ///< by device
  std::vector<uint64_t> used_;  ///< by device: live bytes
  WatchTable watch_;
};

}  // namespace baton::emulator
