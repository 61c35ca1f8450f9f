// RUN: baton-opt -sink-buffers -split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @k
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[O:.*]]: i32, %[[C:.*]]: i1)
func.func @k(%p: !llvm.ptr<1>, %o: i32, %c: i1) -> i32 attributes {baton.kernel} {
  // What is used outside the stages stays; what nobody uses goes.
  // CHECK-NEXT: %[[OUTSIDE:.*]] = baton.buffer %[[P]] bytes 64
  // CHECK-NOT: baton.buffer
  %outside = baton.buffer %p bytes 64 : !llvm.ptr<1>
  %both = baton.buffer %p bytes 128 : !llvm.ptr<1>
  %unused = baton.buffer %p bytes 256 : !llvm.ptr<1>
  // A stage has one, at its start, whatever the branch that uses it.
  // CHECK: baton.stage "first" {
  // CHECK-NEXT: %[[B:.*]] = baton.buffer %[[P]] bytes 128
  // CHECK-NOT: baton.buffer
  // CHECK: scf.if %[[C]] {
  // CHECK: baton.load %[[B]]
  // CHECK: baton.load %[[B]]
  baton.stage "first" {
    scf.if %c {
      %w = baton.load %both[%o] wave : i32
      baton.store %w, %both[%o] wave : i32
    }
    %w = baton.load %both[%o] wave : i32
    baton.store %w, %both[%o] wave : i32
    baton.yield
  }
  // CHECK: baton.stage "second" {
  // CHECK-DAG: %[[X:.*]] = baton.buffer %[[P]] bytes 64
  // CHECK-DAG: %[[Y:.*]] = baton.buffer %[[P]] bytes 128
  // CHECK: %[[W:.*]] = baton.load %[[X]]
  // CHECK: baton.store %[[W]], %[[Y]]
  baton.stage "second" {
    %w = baton.load %outside[%o] wave : i32
    baton.store %w, %both[%o] wave : i32
    baton.yield
  }
  // A buffer that a stage makes stays where it is.
  // CHECK: baton.stage "third" {
  // CHECK: scf.if
  // CHECK-NEXT: baton.buffer
  baton.stage "third" {
    scf.if %c {
      %own = baton.buffer %p bytes 32 : !llvm.ptr<1>
      %w = baton.load %own[%o] wave : i32
      baton.store %w, %own[%o] wave : i32
    }
    baton.yield
  }
  // CHECK: baton.load %[[OUTSIDE]]
  %w = baton.load %outside[%o] wave : i32
  baton.reread_arguments
  return %w : i32
}

// -----

// Where SGPRs are not scarce a resource is built once.
// CHECK-LABEL: func.func @k
// CHECK-NEXT: %[[B:.*]] = baton.buffer
// CHECK-NEXT: baton.stage "s" {
// CHECK-NEXT: baton.load %[[B]]
func.func @k(%p: !llvm.ptr<1>, %o: i32) attributes {baton.kernel} {
  %b = baton.buffer %p bytes 64 : !llvm.ptr<1>
  baton.stage "s" {
    %w = baton.load %b[%o] wave : i32
    baton.yield
  }
  return
}
