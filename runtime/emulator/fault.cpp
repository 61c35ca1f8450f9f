#include "runtime/emulator/fault.h"

#include <fmt/format.h>

#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/instruction.h"
#include "runtime/emulator/memory.h"
#include "runtime/emulator/wave.h"

namespace baton::emulator {

void fault_memory(const Wave& w, const char* verb, uint64_t address, uint64_t size, int lane) {
  throw Fault(fmt::format("{} {}", verb, w.memory->describe(address, size)), lane);
}

void fault_unreachable(const Wave& w, const char* verb, uint64_t address, int device, int lane) {
  throw Fault(fmt::format("{} memory at 0x{:x} of device {}, to which device {} has no access",
                          verb, address, device, w.dispatch->device),
              lane);
}

void fault_lds(const Wave& w, const char* verb, uint64_t address, uint64_t size, int lane) {
  throw Fault(fmt::format("{} {} bytes at LDS offset {}, the workgroup has {} bytes", verb, size,
                          address, w.lds_bytes),
              lane);
}

void fault_scratch(const Wave& w, uint64_t offset, uint64_t size, int lane) {
  throw Fault(fmt::format("access of {} bytes at private offset {}, a lane has {} bytes", size,
                          offset, w.scratch_words * 4),
              lane);
}

void fault_misaligned(uint64_t address, uint64_t size, int lane) {
  throw Fault(
      fmt::format("atomic access of {} bytes at 0x{:x}, which is not aligned", size, address),
      lane);
}

void fault_unsupported(const Instruction& in, const char* what) {
  throw Fault(fmt::format("{}: {}", in.name ? in.name : "instruction", what), -1);
}

void fault_operand() { throw Fault("an operand is not the vector register that it must be", -1); }

void fault_unknown(const Instruction&) { throw Fault("this instruction is not emulated", -1); }

}  // namespace baton::emulator
