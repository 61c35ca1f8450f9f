// RUN: baton-opt %s -split-input-file -stamp-stages -verify-diagnostics | FileCheck %s

// One entry a stage op, in the order of the kernel; a name may come twice. A stage has two stamps of
// 8 bytes; the stamps lie behind every other range, which ends at byte 56 here.
// CHECK: module attributes {
// CHECK-SAME: baton.timeline = ["load", "late", "load"]
// CHECK: baton.lds @timeline_stamps offset 64 bytes 48
module attributes {baton.grid = 4 : i64, baton.workgroup = 128 : i64} {
  baton.lds @rows offset 16 bytes 40
  baton.lds @short offset 0 bytes 20

  // CHECK-LABEL: func.func @k
  // CHECK-SAME: %[[TL:[a-z0-9]+]]: !llvm.ptr<1>, %[[I:[a-z0-9]+]]: i32, %[[C:[a-z0-9]+]]: i1)
  // CHECK-NOT: baton.timeline
  func.func @k(%tl: !llvm.ptr<1>, %i: i32, %c: i1) -> i32 attributes {baton.kernel} {
    // Lane 0 clears all stamps at the head: a stage that does not run leaves zeros.
    // CHECK: %[[T:.*]] = baton.thread_id below 128
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[T]], %{{.*}} : i32
    // CHECK: %[[CTA:.*]] = baton.cta_id below 4
    // CHECK-NOT: baton.buffer
    // CHECK: scf.if %[[FIRST]] {
    // CHECK: %[[ZEROS:.*]] = arith.constant dense<0> : vector<4xi32>
    // CHECK: %[[B0:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: baton.lds_store %[[ZEROS]], @timeline_stamps[%[[B0]]]
    // CHECK-NEXT: %[[B16:.*]] = arith.constant 16 : i32
    // CHECK-NEXT: baton.lds_store %[[ZEROS]], @timeline_stamps[%[[B16]]]
    // CHECK-NEXT: %[[B32:.*]] = arith.constant 32 : i32
    // CHECK-NEXT: baton.lds_store %[[ZEROS]], @timeline_stamps[%[[B32]]]
    // CHECK-NEXT: }
    baton.timeline %tl
    // CHECK-NEXT: baton.stage "load" {
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK-NEXT: %[[ENTER:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"() : () -> i64
    // CHECK-NEXT: %[[E0:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: baton.lds_store %[[ENTER]], @timeline_stamps[%[[E0]]] : i64
    // CHECK-NEXT: }
    // CHECK-NEXT: baton.lds_load @rows
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK-NEXT: %[[LEAVE:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"() : () -> i64
    // CHECK-NEXT: %[[L8:.*]] = arith.constant 8 : i32
    // CHECK-NEXT: baton.lds_store %[[LEAVE]], @timeline_stamps[%[[L8]]] : i64
    // CHECK-NEXT: }
    // CHECK-NEXT: baton.yield
    baton.stage "load" {
      %v = baton.lds_load @rows[%i] : i32
      baton.yield
    }
    // A stage in a branch stamps there, before it yields.
    // CHECK: scf.if %[[C]]
    // CHECK-NEXT: baton.stage "late" -> i32 {
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK: %[[E16:.*]] = arith.constant 16 : i32
    // CHECK-NEXT: baton.lds_store %{{.*}}, @timeline_stamps[%[[E16]]] : i64
    // CHECK: baton.lds_load @short
    // CHECK: %[[L24:.*]] = arith.constant 24 : i32
    // CHECK-NEXT: baton.lds_store %{{.*}}, @timeline_stamps[%[[L24]]] : i64
    // CHECK-NEXT: }
    // CHECK-NEXT: baton.yield %{{.*}} : i32
    %r = scf.if %c -> i32 {
      %x = baton.stage "late" -> i32 {
        %v = baton.lds_load @short[%i] : i32
        baton.yield %v : i32
      }
      scf.yield %x : i32
    } else {
      scf.yield %i : i32
    }
    // CHECK: baton.stage "load" {
    // CHECK: %[[E32:.*]] = arith.constant 32 : i32
    // CHECK-NEXT: baton.lds_store %{{.*}}, @timeline_stamps[%[[E32]]] : i64
    // CHECK: %[[L40:.*]] = arith.constant 40 : i32
    // CHECK-NEXT: baton.lds_store %{{.*}}, @timeline_stamps[%[[L40]]] : i64
    // CHECK-NEXT: }
    // CHECK-NEXT: baton.yield
    baton.stage "load" { baton.yield }
    // At the end lane 0 stores its workgroup's row: 48 bytes from 48 x cta.
    // CHECK: scf.if %[[FIRST]] {
    // CHECK-NEXT: %[[BUFFER:.*]] = baton.buffer %[[TL]] bytes 192
    // CHECK-NEXT: %[[ROW_BYTES:.*]] = arith.constant 48 : i32
    // CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[CTA]], %[[ROW_BYTES]] : i32
    // CHECK: %[[P0:.*]] = baton.lds_load @timeline_stamps[%{{.*}}] : vector<4xi32>
    // CHECK: %[[O0:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
    // CHECK-NEXT: baton.store %[[P0]], %[[BUFFER]][%[[O0]]] wave : vector<4xi32>
    // CHECK: %[[F16:.*]] = arith.constant 16 : i32
    // CHECK-NEXT: %[[P16:.*]] = baton.lds_load @timeline_stamps[%[[F16]]] : vector<4xi32>
    // CHECK-NEXT: %[[S16:.*]] = arith.constant 16 : i32
    // CHECK-NEXT: %[[O16:.*]] = arith.addi %[[ROW]], %[[S16]] : i32
    // CHECK-NEXT: baton.store %[[P16]], %[[BUFFER]][%[[O16]]] wave : vector<4xi32>
    // CHECK: %[[F32:.*]] = arith.constant 32 : i32
    // CHECK-NEXT: %[[P32:.*]] = baton.lds_load @timeline_stamps[%[[F32]]] : vector<4xi32>
    // CHECK-NEXT: %[[S32:.*]] = arith.constant 32 : i32
    // CHECK-NEXT: %[[O32:.*]] = arith.addi %[[ROW]], %[[S32]] : i32
    // CHECK-NEXT: baton.store %[[P32]], %[[BUFFER]][%[[O32]]] wave : vector<4xi32>
    // CHECK-NEXT: }
    // CHECK-NEXT: return
    return %r : i32
  }
}

// -----

// A kernel without LDS of its own; a kernel without a timeline stays as it is.
// CHECK: baton.lds @timeline_stamps offset 0 bytes 16
module attributes {baton.grid = 1 : i64, baton.workgroup = 64 : i64} {
  func.func @k(%tl: !llvm.ptr<1>) attributes {baton.kernel} {
    baton.timeline %tl
    baton.stage "only" { baton.yield }
    return
  }
}

// -----

// CHECK: module {
// CHECK-NEXT: func.func @plain() attributes {baton.kernel} {
// CHECK-NEXT: baton.stage "only" {
// CHECK-NEXT: baton.yield
module {
  func.func @plain() attributes {baton.kernel} {
    baton.stage "only" { baton.yield }
    return
  }
}

// -----

module attributes {baton.grid = 1 : i64, baton.workgroup = 64 : i64} {
  func.func @k(%tl: !llvm.ptr<1>) attributes {baton.kernel} {
    baton.timeline %tl
    // expected-error@+1 {{'baton.timeline' op is the kernel's second: it has one}}
    baton.timeline %tl
    baton.stage "only" { baton.yield }
    return
  }
}

// -----

module attributes {baton.workgroup = 64 : i64} {
  func.func @k(%tl: !llvm.ptr<1>) attributes {baton.kernel} {
    // expected-error@+1 {{'baton.timeline' op needs the module's 'baton.grid'}}
    baton.timeline %tl
    baton.stage "only" { baton.yield }
    return
  }
}

// -----

module attributes {baton.grid = 1 : i64} {
  func.func @k(%tl: !llvm.ptr<1>) attributes {baton.kernel} {
    // expected-error@+1 {{'baton.timeline' op needs the module's 'baton.workgroup'}}
    baton.timeline %tl
    baton.stage "only" { baton.yield }
    return
  }
}

// -----

module attributes {baton.grid = 1 : i64, baton.workgroup = 64 : i64} {
  func.func @k(%tl: !llvm.ptr<1>) attributes {baton.kernel} {
    // expected-error@+1 {{'baton.timeline' op finds no stage to stamp}}
    baton.timeline %tl
    return
  }
}

// -----

module attributes {baton.grid = 1 : i64, baton.workgroup = 64 : i64} {
  func.func @k(%tl: !llvm.ptr<1>, %c: i1) attributes {baton.kernel} {
    scf.if %c {
      baton.stage "early" { baton.yield }
    }
    // expected-error@+1 {{'baton.timeline' op stands behind stage 'early', which it would miss}}
    baton.timeline %tl
    baton.stage "late" { baton.yield }
    return
  }
}
