// Words for a launch that went wrong: a fault's place, a hang's waiting waves.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/fault.h"

namespace baton::emulator {

/// What the emulator is told about addresses, by whoever knows the code object's record.
struct Names {
  /// "ar[3, 0, 512]" for an address, or empty.
  std::function<std::string(uint64_t address)> address = {};
  /// "3584 words of it have not arrived, the first is ar[5, 0, 0]": of the region around an
  /// address, or empty. Only words at addresses that are `awaited` count: the waves read their
  /// line.
  std::function<std::string(uint64_t address, const std::function<bool(uint64_t)>& awaited)>
      missing = {};
};

/// "stage o (put ar), 'global_store_dword ...' at 0x1a40 (attn_post.cpp:41)", as far as the debug
/// information knows.
std::string code_place(const Program& program, uint32_t index);

/// "kernel attn_post, device 0, workgroup 57, wave 3".
std::string wave_name(const Wave& wave);

/// "kernel, device, workgroup (x, y, z), wave, lane: message", and the instruction's place.
Error fault_error(const Wave& wave, const Fault& fault);

/// What was stopped after `steps` wave instructions, `limit` at most being wanted.
Error limit_error(uint64_t steps, uint64_t limit, const std::vector<const Workgroup*>& workgroups);

/// Who waits where, for what, having seen what: one line a group of waves that wait alike.
Error hang_error(const std::vector<const Workgroup*>& workgroups, const Names& names);

}  // namespace baton::emulator
