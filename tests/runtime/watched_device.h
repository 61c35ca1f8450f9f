// A device that counts what is asked of another one, tells of it, and can refuse an allocation.
#pragma once

#include <functional>
#include <set>

#include "runtime/base/error.h"
#include "runtime/device/device.h"

namespace baton::tests {

class WatchedDevice : public Device {
 public:
  explicit WatchedDevice(Device& device) : device_(device) {}

  int allocations = 0;           ///< so far
  int refused_allocation = -1;   ///< this one, counted from 0, throws
  std::set<DeviceAddress> live;  ///< allocated and not released
  uint64_t bytes_read = 0;
  std::function<void()> on_enqueue = [] {};  ///< called first when a launch or a fill gets here

  DeviceAddress allocate(uint64_t bytes, MemoryKind kind) override {
    if (allocations++ == refused_allocation) throw Error(ErrorKind::environment, "no room");
    const DeviceAddress address = device_.allocate(bytes, kind);
    live.insert(address);
    return address;
  }
  void release(DeviceAddress address) override {
    device_.release(address);
    live.erase(address);
  }
  void read(DeviceAddress from, std::span<uint8_t> bytes) override {
    bytes_read += bytes.size();
    device_.read(from, bytes);
  }

  int ordinal() const override { return device_.ordinal(); }
  const Target& target() const override { return device_.target(); }
  std::string description() const override { return device_.description(); }
  void write(DeviceAddress to, ByteView bytes) override { device_.write(to, bytes); }
  std::unique_ptr<Stream> create_stream() override { return device_.create_stream(); }
  std::unique_ptr<Event> create_event() override { return device_.create_event(); }
  void write_async(DeviceAddress to, ByteView bytes, Stream& stream) override {
    device_.write_async(to, bytes, stream);
  }
  void read_async(DeviceAddress from, std::span<uint8_t> bytes, Stream& stream) override {
    device_.read_async(from, bytes, stream);
  }
  void copy_async(DeviceAddress to, DeviceAddress from, uint64_t bytes, Stream& stream) override {
    device_.copy_async(to, from, bytes, stream);
  }
  void fill_async(DeviceAddress to, uint8_t value, uint64_t bytes, Stream& stream) override {
    on_enqueue();
    device_.fill_async(to, value, bytes, stream);
  }
  void fill_words_async(DeviceAddress to, uint32_t value, uint64_t words, Stream& stream) override {
    on_enqueue();
    device_.fill_words_async(to, value, words, stream);
  }
  void record(Event& event, Stream& stream) override { device_.record(event, stream); }
  void wait(Event& event, Stream& stream) override { device_.wait(event, stream); }
  bool query(Event& event) override { return device_.query(event); }
  void synchronize(Event& event) override { device_.synchronize(event); }
  std::unique_ptr<Module> load(ByteView code_object) override { return device_.load(code_object); }
  void launch(const Function& function, const LaunchShape& shape, ByteView arguments,
              Stream& stream) override {
    on_enqueue();
    device_.launch(function, shape, arguments, stream);
  }
  void synchronize(Stream& stream) override { device_.synchronize(stream); }
  void synchronize() override { device_.synchronize(); }
  void enable_peer_access(Device& peer) override { device_.enable_peer_access(peer); }
  int workgroups_per_cu(const Function& function, const LaunchShape& shape) override {
    return device_.workgroups_per_cu(function, shape);
  }
  int compute_units() override { return device_.compute_units(); }
  bool holds_every_workgroup() const override { return device_.holds_every_workgroup(); }

 private:
  Device& device_;
};

}  // namespace baton::tests
