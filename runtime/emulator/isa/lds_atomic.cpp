#include "runtime/emulator/isa/families.h"
namespace baton::emulator::BATON_ISA {
OpTable lds_atomic_rows() { return {nullptr, 0}; }
}  // namespace baton::emulator::BATON_ISA
