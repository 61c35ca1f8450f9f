// Device memory that is given back when its owner goes.
#pragma once

#include <utility>

#include "runtime/base/error.h"
#include "runtime/device/device.h"

namespace baton {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(Device& device, uint64_t bytes, MemoryKind kind)
      : device_(&device), address_(device.allocate(bytes, kind)) {}
  DeviceMemory(DeviceMemory&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)), address_(other.address_) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    return *this;
  }
  ~DeviceMemory() {
    if (device_ == nullptr) return;
    try {
      device_->release(address_);
    } catch (const Error&) {
      // The device has failed and said so already; it frees its memory when it goes.
    }
  }

  /// Leaves the memory to the end of the process, and holds none any more.
  void leave_allocated() { device_ = nullptr; }

  /// 0 when it holds none.
  DeviceAddress address() const { return device_ == nullptr ? 0 : address_; }

 private:
  Device* device_ = nullptr;
  DeviceAddress address_ = 0;
};

}  // namespace baton
