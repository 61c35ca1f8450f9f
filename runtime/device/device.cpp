#include "runtime/device/device.h"

#include "runtime/base/error.h"

namespace baton {
namespace {

[[noreturn]] void refuse(const Device& device) {
  throw Error(ErrorKind::environment,
              fmt::format("{} shares no memory with other processes", device.description()),
              "all ranks of an emulated launch are in one process");
}

}  // namespace

MemoryHandle Device::export_memory(DeviceAddress) { refuse(*this); }
DeviceAddress Device::import_memory(const MemoryHandle&) { refuse(*this); }
void Device::close_imported(DeviceAddress) { refuse(*this); }

}  // namespace baton
