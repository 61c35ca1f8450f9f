// One GPU behind the device interface.
#pragma once

#include <memory>

#include "runtime/device/device.h"
#include "runtime/device/hip/hip_platform.h"

namespace baton::hip {

/// `library` and `target` must outlive it. Any thread may call it.
std::unique_ptr<Device> make_device(const Library& library, const Gpu& gpu, const Target& target);

}  // namespace baton::hip
