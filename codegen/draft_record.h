// What the traced module says of its kernel beside the code: its "baton.*" attributes.
//   baton.chip = "gfx950", baton.workgroup = lanes, baton.grid = workgroups: required
//   baton.key = "attn_post:tokens=8,...", baton.stages = ["o", ...],
//   baton.scratch_bytes, baton.peer_half_bytes: bytes
//   baton.args = [{name, kind, access, dtype, shape = array<i64>}]: in ABI order; of a plain value
//     only name and kind
//   baton.regions = [{name, space, protocol, dtype, shape = array<i64>, offset, bytes}]
// Kinds, accesses, spaces and protocols are spelt as runtime/object/record.h names them.
#pragma once

#include "runtime/object/record.h"

namespace mlir {
class ModuleOp;
}

namespace baton::codegen {

/// The record as far as the trace knows it: without what the compiler decides (resources other
/// than grid and workgroup, argument offsets, hash). Throws Error (user) that names an attribute
/// which is missing or wrong, and when the module does not hold exactly one kernel.
Record draft_record(mlir::ModuleOp module);

}  // namespace baton::codegen
