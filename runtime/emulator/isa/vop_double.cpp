#include "runtime/emulator/isa/families.h"
namespace baton::emulator::BATON_ISA {
OpTable vop_double_rows() { return {nullptr, 0}; }
}  // namespace baton::emulator::BATON_ISA
