// The instruction families of one level. Deliberately without #pragma once: a file that needs the
// tables of several levels includes it once for each, with BATON_ISA defined.
#include "runtime/emulator/instruction.h"
#include "runtime/emulator/op_table.h"

namespace baton::emulator::BATON_ISA {

OpTable vop_integer_rows();
OpTable vop_half_rows();
OpTable vop_float_rows();
OpTable vop_double_rows();
OpTable vop_math_rows();
OpTable vop_convert_rows();
OpTable vop_convert_small_rows();
OpTable vop_compare_rows();
OpTable vop_packed_rows();
OpTable vop_dot_rows();
OpTable cross_lane_rows();
OpTable mfma_rows();
OpTable mfma_other_rows();
OpTable lds_rows();
OpTable lds_atomic_rows();
OpTable buffer_rows();
OpTable flat_rows();
OpTable memory_atomic_rows();

}  // namespace baton::emulator::BATON_ISA
