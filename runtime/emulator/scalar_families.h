// The families that work on a wave's scalars; they gain nothing from the host's vectors.
#pragma once

#include "runtime/emulator/op_table.h"

namespace baton::emulator {

OpTable salu_rows();          ///< arithmetic, logic, compares
OpTable salu_control_rows();  ///< branches, barriers, waits, modes, messages
OpTable smem_rows();          ///< scalar loads and stores, clocks, cache maintenance

}  // namespace baton::emulator
