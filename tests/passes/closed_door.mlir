// After its lowering an op of the dialect is illegal: one that a pass does not reach is an error that
// names op and pass. The passes look for declarations in the module itself, not in a nested one.
// RUN: not baton-opt %s -lower-memory 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not baton-opt %s -layout-regions -lower-handoffs 2>&1 | FileCheck %s --check-prefix=HANDOFFS
// RUN: not baton-opt %s -baton-pipeline 2>&1 | FileCheck %s --check-prefix=HANDOFFS

module attributes {baton.chip = "gfx950", baton.workgroup = 64 : i64} {
  module {
    // MEMORY: closed_door.mlir:[[#@LINE+1]]:5: error: 'baton.lds' op was left behind by pass 'lower-memory'
    baton.lds @rows offset 0 bytes 64
    // HANDOFFS: closed_door.mlir:[[#@LINE+1]]:5: error: 'baton.region' op was left behind by pass 'lower-handoffs'
    baton.region @sums scratch tagged f32 shape [8]
  }
}
