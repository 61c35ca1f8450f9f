#include "runtime/emulator/isa/families.h"
namespace baton::emulator::BATON_ISA {
OpTable vop_convert_small_rows() { return {nullptr, 0}; }
}  // namespace baton::emulator::BATON_ISA
