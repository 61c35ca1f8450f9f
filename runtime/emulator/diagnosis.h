// Words for a launch that went wrong: a fault's place, a hang's waiting waves.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/fault.h"

namespace baton::emulator {

/// What the emulator is told about addresses and code places, by whoever knows the code object's
/// record.
struct Names {
  /// "ar[3, 0, 512]" for an address, or empty.
  std::function<std::string(uint64_t address)> address;
  /// The stage of a source line ("attn_post.cpp:41") or empty.
  std::function<std::string(const std::string& source_line)> stage;
};

/// "kernel, device, workgroup (x, y, z), wave, lane: message", the instruction, its address and
/// line.
Error fault_error(const Wave& wave, const Fault& fault);

/// Who waits where, for what, having seen what: one line a group of waves that wait alike.
Error hang_error(const std::vector<const Workgroup*>& workgroups, const Names& names);

}  // namespace baton::emulator
