// How an instruction stops the launch. Handlers are compiled several times for the host's vector
// levels, so what they throw is built here, once.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace baton::emulator {

struct Instruction;
struct Wave;

/// What went wrong inside an instruction; the scheduler adds where.
class Fault : public std::runtime_error {
 public:
  Fault(std::string message, int lane) : std::runtime_error(std::move(message)), lane_(lane) {}
  int lane() const { return lane_; }  ///< -1: all of the wave

 private:
  int lane_;
};

/// An access to memory that is not allocated. `verb`: "load of" or "store to".
[[noreturn]] void fault_memory(const Wave& w, const char* verb, uint64_t address, uint64_t size,
                               int lane);
/// Memory of a device that the wave's device may not reach.
[[noreturn]] void fault_unreachable(const Wave& w, const char* verb, uint64_t address, int device,
                                    int lane);
[[noreturn]] void fault_lds(const Wave& w, const char* verb, uint64_t address, uint64_t size,
                            int lane);
[[noreturn]] void fault_scratch(const Wave& w, uint64_t offset, uint64_t size, int lane);
[[noreturn]] void fault_misaligned(uint64_t address, uint64_t size, int lane);
[[noreturn]] void fault_unsupported(const Instruction& in, const char* what);
[[noreturn]] void fault_unknown(const Instruction& in);

}  // namespace baton::emulator
