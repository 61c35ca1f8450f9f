#include "runtime/emulator/isa/families.h"
namespace baton::emulator::BATON_ISA {
OpTable mfma_other_rows() { return {nullptr, 0}; }
}  // namespace baton::emulator::BATON_ISA
