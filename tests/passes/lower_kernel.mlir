// RUN: baton-opt %s -split-input-file -lower-kernel -verify-diagnostics | FileCheck %s

module attributes {baton.workgroup = 512 : i64, baton.grid = 256 : i64} {
  // CHECK: llvm.func @k(%{{.*}}: i32) attributes {
  // CHECK-SAME: rocdl.flat_work_group_size = "512,512", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 512, 1, 1>}
  llvm.func @k(%x: i32) attributes {baton.kernel} {
    // CHECK-NEXT: rocdl.workitem.id.x range <i32, 0, 512> : i32
    %t = baton.thread_id below 512
    // CHECK-NEXT: rocdl.workgroup.id.x range <i32, 0, 256> : i32
    %c = baton.cta_id below 256
    // Workgroup scope: what crosses waves is in LDS; the fences do not wait for vmcnt.
    // CHECK-NEXT: llvm.fence syncscope("workgroup") release
    // CHECK-NEXT: rocdl.s.barrier
    // CHECK-NEXT: llvm.fence syncscope("workgroup") acquire
    baton.barrier
    llvm.return
  }
  // A function that is no kernel stays what it is.
  // CHECK: llvm.func @helper() {
  llvm.func @helper() {
    llvm.return
  }
}

// -----

module {
  // expected-error@+1 {{the module needs 'baton.workgroup'}}
  llvm.func @k() attributes {baton.kernel} {
    llvm.return
  }
}
