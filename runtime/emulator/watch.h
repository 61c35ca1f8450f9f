// Which lines of memory changed: a version for each 128-byte line (hashed), so that a wave that
// spins can be set aside until a line that it read is written.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace baton::emulator {

class WatchTable {
 public:
  static constexpr int kLineShift = 7;
  static constexpr uint32_t kBuckets = 1u << 16;

  WatchTable() : entries_(std::make_unique<Entry[]>(kBuckets)) {}

  static uint32_t bucket(uint64_t address) {
    const uint64_t line = address >> kLineShift;
    return static_cast<uint32_t>((line ^ ((line >> 16) * 0x9e3779b1u)) & (kBuckets - 1));
  }
  uint32_t version(uint32_t bucket) const {
    return entries_[bucket].version.load(std::memory_order_acquire);
  }

  /// Called after the bytes of [address, address + size) were written.
  void written(uint64_t address, uint64_t size, std::vector<uint32_t>& woken) {
    const uint64_t last = (address + size - 1) >> kLineShift;
    for (uint64_t line = address >> kLineShift; line <= last; ++line) {
      const uint32_t b = bucket(line << kLineShift);
      entries_[b].version.fetch_add(1);
      if (entries_[b].waiters.load() != 0) woken.push_back(b);
    }
  }

  void add_waiter(uint32_t bucket) { entries_[bucket].waiters.fetch_add(1); }
  void remove_waiter(uint32_t bucket) { entries_[bucket].waiters.fetch_sub(1); }

 private:
  struct Entry {
    std::atomic<uint32_t> version{0};
    std::atomic<uint32_t> waiters{0};
  };
  std::unique_ptr<Entry[]> entries_;
};

}  // namespace baton::emulator
