// RUN: sed s/CHIP/gfx950/ %s | baton-opt -lower-memory -canonicalize | FileCheck %s --check-prefixes=CHECK,GFX940
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -lower-memory -canonicalize | FileCheck %s --check-prefixes=CHECK,GFX940
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -lower-memory -canonicalize | FileCheck %s --check-prefixes=CHECK,GFX90A

// Policy bits of a raw buffer operation (LLVM's AMDGPU memory model, relaxed accesses of each scope):
//   gfx942, gfx950: sc0 1, nt 2, sc1 16. workgroup sc0, device sc1, system sc0 sc1, streaming nt.
//   gfx90a: glc 1, slc 2. wave and workgroup none, device glc, system glc slc, streaming slc.

module attributes {baton.chip = "CHIP"} {
  // One global holds all LDS: 64 + 128 bytes.
  // CHECK: llvm.mlir.global internal @[[LDS:.*]]() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<192 x i8>
  // CHECK-NOT: baton.lds
  baton.lds @rows offset 0 bytes 64
  baton.lds @sums offset 64 bytes 128
  baton.lds @lds offset 0 bytes 16

  // Word 3 of a resource on gfx9: DATA_FORMAT 32 (4, bits 18:15), NUM_FORMAT 7 (bits 14:12), no
  // stride: 4 * 32768 + 7 * 4096 = 159744.
  // CHECK-LABEL: func.func @buffers
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[A:.*]]: i64, %[[O:.*]]: i32)
  func.func @buffers(%p: !llvm.ptr<1>, %a: i64, %o: i32) -> (i32, i32) {
    // CHECK-DAG: %[[FLAGS:.*]] = arith.constant 159744 : i32
    // CHECK-DAG: %[[STRIDE:.*]] = arith.constant 0 : i16
    // CHECK-DAG: %[[ALL:.*]] = arith.constant 4294967295 : i64
    // CHECK-DAG: %[[FEW:.*]] = arith.constant 256 : i64
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK: %[[R:.*]] = rocdl.make.buffer.rsrc %[[P]], %[[STRIDE]], %[[ALL]], %[[FLAGS]] : <1> to <8>
    %b = baton.buffer %p bytes 4294967295 : !llvm.ptr<1>
    // CHECK: %[[Q:.*]] = llvm.inttoptr %[[A]] : i64 to !llvm.ptr<1>
    // CHECK: %[[R2:.*]] = rocdl.make.buffer.rsrc %[[Q]], %[[STRIDE]], %[[FEW]], %[[FLAGS]] : <1> to <8>
    %b2 = baton.buffer %a bytes 256 : i64
    // Offsets are the vector offset; the scalar offset is 0.
    // CHECK: rocdl.raw.ptr.buffer.load %[[R]], %[[O]], %[[ZERO]], %[[ZERO]] : i32
    %w = baton.load %b[%o] wave : i32
    // CHECK: rocdl.raw.ptr.buffer.load %[[R2]], %[[O]], %[[ZERO]], %[[ZERO]] : i32
    %w2 = baton.load %b2[%o] wave : i32
    return %w, %w2 : i32, i32
  }

  // CHECK-LABEL: func.func @load_scopes
  func.func @load_scopes(%b: !baton.buffer, %o: i32)
      -> (i32, vector<2xi32>, vector<4xi32>, i32, i32, i32, i32, i32) {
    // GFX940-DAG: %[[WAVE:.*]] = arith.constant 0 : i32
    // GFX940-DAG: %[[WORKGROUP:.*]] = arith.constant 1 : i32
    // GFX940-DAG: %[[DEVICE:.*]] = arith.constant 16 : i32
    // GFX940-DAG: %[[SYSTEM:.*]] = arith.constant 17 : i32
    // GFX940-DAG: %[[WAVE_NT:.*]] = arith.constant 2 : i32
    // GFX940-DAG: %[[WORKGROUP_NT:.*]] = arith.constant 3 : i32
    // GFX940-DAG: %[[DEVICE_NT:.*]] = arith.constant 18 : i32
    // GFX940-DAG: %[[SYSTEM_NT:.*]] = arith.constant 19 : i32
    // GFX940: rocdl.raw.ptr.buffer.load %{{.*}}, %[[WAVE]] : i32
    // GFX940: rocdl.raw.ptr.buffer.load %{{.*}}, %[[WORKGROUP]] : vector<2xi32>
    // GFX940: rocdl.raw.ptr.buffer.load %{{.*}}, %[[DEVICE]] : vector<4xi32>
    // GFX940: rocdl.raw.ptr.buffer.load %{{.*}}, %[[SYSTEM]] : i32
    // GFX940: rocdl.raw.ptr.buffer.load %{{.*}}, %[[WAVE_NT]] : i32
    // GFX940: rocdl.raw.ptr.buffer.load %{{.*}}, %[[WORKGROUP_NT]] : i32
    // GFX940: rocdl.raw.ptr.buffer.load %{{.*}}, %[[DEVICE_NT]] : i32
    // GFX940: rocdl.raw.ptr.buffer.load %{{.*}}, %[[SYSTEM_NT]] : i32
    // GFX90A-DAG: %[[NONE:.*]] = arith.constant 0 : i32
    // GFX90A-DAG: %[[GLC:.*]] = arith.constant 1 : i32
    // GFX90A-DAG: %[[SLC:.*]] = arith.constant 2 : i32
    // GFX90A-DAG: %[[GLC_SLC:.*]] = arith.constant 3 : i32
    // GFX90A: rocdl.raw.ptr.buffer.load %{{.*}}, %[[NONE]] : i32
    // GFX90A: rocdl.raw.ptr.buffer.load %{{.*}}, %[[NONE]] : vector<2xi32>
    // GFX90A: rocdl.raw.ptr.buffer.load %{{.*}}, %[[GLC]] : vector<4xi32>
    // GFX90A: rocdl.raw.ptr.buffer.load %{{.*}}, %[[GLC_SLC]] : i32
    // GFX90A: rocdl.raw.ptr.buffer.load %{{.*}}, %[[SLC]] : i32
    // GFX90A: rocdl.raw.ptr.buffer.load %{{.*}}, %[[SLC]] : i32
    // GFX90A: rocdl.raw.ptr.buffer.load %{{.*}}, %[[GLC_SLC]] : i32
    // GFX90A: rocdl.raw.ptr.buffer.load %{{.*}}, %[[GLC_SLC]] : i32
    %0 = baton.load %b[%o] wave : i32
    %1 = baton.load %b[%o] workgroup : vector<2xi32>
    %2 = baton.load %b[%o] device : vector<4xi32>
    %3 = baton.load %b[%o] system : i32
    %4 = baton.load %b[%o] wave streaming : i32
    %5 = baton.load %b[%o] workgroup streaming : i32
    %6 = baton.load %b[%o] device streaming : i32
    %7 = baton.load %b[%o] system streaming : i32
    return %0, %1, %2, %3, %4, %5, %6, %7
        : i32, vector<2xi32>, vector<4xi32>, i32, i32, i32, i32, i32
  }

  // CHECK-LABEL: func.func @half_a_word
  func.func @half_a_word(%b: !baton.buffer, %o: i32) {
    // CHECK: %[[H:.*]] = rocdl.raw.ptr.buffer.load %{{.*}} : i16
    // CHECK: rocdl.raw.ptr.buffer.store %[[H]], %{{.*}} : i16
    %h = baton.load %b[%o] wave : i16
    baton.store %h, %b[%o] wave : i16
    return
  }

  // CHECK-LABEL: func.func @store_scopes
  // CHECK-SAME: , %[[W1:[a-z0-9]+]]: i32, %[[W2:[a-z0-9]+]]: vector<2xi32>, %[[W4:[a-z0-9]+]]: vector<4xi32>)
  func.func @store_scopes(%b: !baton.buffer, %o: i32, %1: i32, %2: vector<2xi32>,
                          %4: vector<4xi32>) {
    // GFX940-DAG: %[[WAVE:.*]] = arith.constant 0 : i32
    // GFX940-DAG: %[[WORKGROUP:.*]] = arith.constant 1 : i32
    // GFX940-DAG: %[[DEVICE:.*]] = arith.constant 16 : i32
    // GFX940-DAG: %[[SYSTEM:.*]] = arith.constant 17 : i32
    // GFX940: rocdl.raw.ptr.buffer.store %[[W1]], %{{.*}}, %[[WAVE]] : i32
    // GFX940: rocdl.raw.ptr.buffer.store %[[W2]], %{{.*}}, %[[WORKGROUP]] : vector<2xi32>
    // GFX940: rocdl.raw.ptr.buffer.store %[[W4]], %{{.*}}, %[[DEVICE]] : vector<4xi32>
    // GFX940: rocdl.raw.ptr.buffer.store %[[W2]], %{{.*}}, %[[SYSTEM]] : vector<2xi32>
    // GFX90A-DAG: %[[NONE:.*]] = arith.constant 0 : i32
    // GFX90A-DAG: %[[GLC:.*]] = arith.constant 1 : i32
    // GFX90A-DAG: %[[GLC_SLC:.*]] = arith.constant 3 : i32
    // GFX90A: rocdl.raw.ptr.buffer.store %[[W1]], %{{.*}}, %[[NONE]] : i32
    // GFX90A: rocdl.raw.ptr.buffer.store %[[W2]], %{{.*}}, %[[NONE]] : vector<2xi32>
    // GFX90A: rocdl.raw.ptr.buffer.store %[[W4]], %{{.*}}, %[[GLC]] : vector<4xi32>
    // GFX90A: rocdl.raw.ptr.buffer.store %[[W2]], %{{.*}}, %[[GLC_SLC]] : vector<2xi32>
    baton.store %1, %b[%o] wave : i32
    baton.store %2, %b[%o] workgroup : vector<2xi32>
    baton.store %4, %b[%o] device : vector<4xi32>
    baton.store %2, %b[%o] system : vector<2xi32>
    return
  }

  // What nobody writes is read through the constant address space (4), aligned to its size.
  // CHECK-LABEL: func.func @scalar
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[O:.*]]: i32)
  func.func @scalar(%p: !llvm.ptr<1>, %o: i32) -> (i32, i64) {
    // CHECK-NEXT: %[[C:.*]] = llvm.addrspacecast %[[P]] : !llvm.ptr<1> to !llvm.ptr<4>
    // CHECK-NEXT: %[[E:.*]] = llvm.getelementptr %[[C]][%[[O]]] : (!llvm.ptr<4>, i32) -> !llvm.ptr<4>, i8
    // CHECK-NEXT: llvm.load %[[E]] invariant {alignment = 4 : i64} : !llvm.ptr<4> -> i32
    %w = baton.scalar_load %p[%o] : i32
    // CHECK: llvm.load %{{.*}} invariant {alignment = 8 : i64} : !llvm.ptr<4> -> i64
    %d = baton.scalar_load %p[%o] : i64
    return %w, %d : i32, i64
  }

  // CHECK-LABEL: func.func @lds_accesses
  // CHECK-SAME: (%[[O:.*]]: i32, %[[V:.*]]: vector<8xbf16>, %[[H:.*]]: bf16)
  func.func @lds_accesses(%o: i32, %v: vector<8xbf16>, %h: bf16) -> f32 {
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @[[LDS]] : !llvm.ptr<3>
    // CHECK: %[[ROW:.*]] = llvm.getelementptr %{{.*}}[%[[O]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    // CHECK: llvm.store %[[V]], %[[ROW]] {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
    baton.lds_store %v, @rows[%o] : vector<8xbf16>
    // CHECK: %[[SUMS:.*]] = llvm.getelementptr %{{.*}}[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: %[[SUM:.*]] = llvm.getelementptr %[[SUMS]][%[[O]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    // CHECK: llvm.store %[[H]], %[[SUM]] {alignment = 2 : i64} : bf16, !llvm.ptr<3>
    baton.lds_store %h, @sums[%o] : bf16
    // A range may have the name of anything.
    // CHECK: %[[F:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
    // CHECK: return %[[F]]
    %f = baton.lds_load @lds[%o] : f32
    return %f : f32
  }
}
