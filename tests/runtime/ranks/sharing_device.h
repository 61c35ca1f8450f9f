// Emulated devices that share memory as if each were in a process of its own, and can refuse to.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>

#include "tests/runtime/watched_device.h"

namespace baton::tests {

/// What all devices of a machine have open, and whether anybody freed what was.
struct Openings {
  std::mutex mutex;
  std::multiset<DeviceAddress> open;
  int freed_while_open = 0;
};

class SharingDevice : public WatchedDevice {
 public:
  /// `find` gives the device of an ordinal.
  SharingDevice(Device& device, Openings& openings, std::function<Device&(int)> find)
      : WatchedDevice(device), openings_(openings), find_(std::move(find)) {}

  bool refuses_export = false;
  int cus = 256;             ///< such a device does not hold every workgroup
  int refused_import = -1;   ///< this one, counted from 0, throws
  int refused_write = -1;    ///< so does this write
  int refused_closing = -1;  ///< and this closing

  MemoryHandle export_memory(DeviceAddress address) override {
    if (refuses_export) throw Error(ErrorKind::environment, "no handle", "more of them");
    const Shared shared{address, ordinal()};
    MemoryHandle handle = {};
    std::memcpy(handle.bytes.data(), &shared, sizeof shared);
    return handle;
  }
  DeviceAddress import_memory(const MemoryHandle& handle) override {
    if (imports_++ == refused_import) throw Error(ErrorKind::failed_check, "no import");
    Shared shared;
    std::memcpy(&shared, handle.bytes.data(), sizeof shared);
    enable_peer_access(find_(shared.ordinal));
    const std::lock_guard lock(openings_.mutex);
    openings_.open.insert(shared.address);
    return shared.address;
  }
  void close_imported(DeviceAddress address) override {
    if (closings_++ == refused_closing) throw Error(ErrorKind::failed_check, "no closing");
    const std::lock_guard lock(openings_.mutex);
    openings_.open.erase(openings_.open.find(address));
  }
  void release(DeviceAddress address) override {
    WatchedDevice::release(address);
    const std::lock_guard lock(openings_.mutex);
    if (openings_.open.contains(address)) ++openings_.freed_while_open;
  }
  void write(DeviceAddress to, ByteView bytes) override {
    if (writes_++ == refused_write) throw Error(ErrorKind::failed_check, "no write");
    WatchedDevice::write(to, bytes);
  }
  int compute_units() override { return cus; }
  bool holds_every_workgroup() const override { return false; }
  int writes() const { return writes_; }

 private:
  struct Shared {
    DeviceAddress address;
    int ordinal;
  };

  Openings& openings_;
  std::function<Device&(int)> find_;
  int imports_ = 0, writes_ = 0, closings_ = 0;
};

}  // namespace baton::tests
