// From a launch to waves with the registers that the kernel descriptor asks for.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/emulator/dispatch.h"

namespace baton::emulator {

/// What unwritten registers and LDS hold: as fp32, as a bf16 pair and as fp16 not a number.
inline constexpr uint32_t kPoison = 0x7fffdead;

/// Throws Error (user) that names the kernel when the shape does not fit the kernel or the chip.
void check_shape(const KernelCode& code, const Target& target, const LaunchShape& shape);

/// The kernarg segment: explicit arguments as given, hidden ones by their metadata. Throws Error
/// (user) when `arguments` does not end where the last explicit argument does (padding aside).
Bytes kernarg_segment(const KernelMetadata& kernel, const LaunchShape& shape, ByteView arguments);

/// The 64 bytes of an AQL dispatch packet that a kernel may read.
Bytes dispatch_packet(const Dispatch& dispatch);

/// Bytes of registers and LDS that a workgroup of this launch needs.
uint64_t workgroup_bytes(const Dispatch& dispatch);

/// Workgroup `number`, its waves at the kernel's first instruction.
std::unique_ptr<Workgroup> make_workgroup(Dispatch& dispatch, uint64_t number);

}  // namespace baton::emulator
