// RUN: baton-opt -reread-arguments -split-input-file %s | FileCheck %s
// It is not dead, whatever runs before:
// RUN: baton-opt -canonicalize -cse -split-input-file %s | FileCheck %s --check-prefix=KEPT
// KEPT-COUNT-4: baton.reread_arguments

// Arguments lie in the kernarg segment by their own alignment: 0, 8, 16 (i32), 20 (i32), 24.
// CHECK-LABEL: func.func @k
// CHECK-SAME: (%[[A:[a-z0-9]+]]: !llvm.ptr<1>, %[[N:[a-z0-9]+]]: i64, %[[I:[a-z0-9]+]]: i32, %[[J:[a-z0-9]+]]: i32, %[[P:[a-z0-9]+]]: !llvm.ptr<1>)
func.func @k(%a: !llvm.ptr<1>, %n: i64, %i: i32, %j: i32, %p: !llvm.ptr<1>)
    attributes {baton.kernel} {
  // Before it, the arguments themselves.
  // CHECK: baton.scalar_load %[[A]][%[[I]]]
  %before = baton.scalar_load %a[%i] : i32
  // Behind it, those that are used there, each once.
  // CHECK: %[[KNOWN:.*]] = llvm.call_intrinsic "llvm.amdgcn.kernarg.segment.ptr"() : () -> !llvm.ptr<4>
  // CHECK: %[[S:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=s,0" %[[KNOWN]]
  // CHECK: %[[JP:.*]] = llvm.getelementptr %[[S]][20]
  // CHECK: %[[J2:.*]] = llvm.load %[[JP]] invariant {alignment = 4 : i64} : !llvm.ptr<4> -> i32
  // CHECK: %[[PP:.*]] = llvm.getelementptr %[[S]][24]
  // CHECK: %[[P2:.*]] = llvm.load %[[PP]] invariant {alignment = 8 : i64} : !llvm.ptr<4> -> !llvm.ptr<1>
  // CHECK-NOT: llvm.load
  baton.reread_arguments
  // CHECK: baton.stage "s" {
  // CHECK: baton.scalar_load %[[P2]][%[[J2]]]
  // CHECK: baton.scalar_load %[[P2]][%[[J2]]]
  baton.stage "s" {
    %x = baton.scalar_load %p[%j] : i32
    %y = baton.scalar_load %p[%j] : i32
    baton.yield
  }
  return
}

// -----

// In a branch it stands for the branch alone; the innermost wins.
// CHECK-LABEL: func.func @k
// CHECK-SAME: (%[[A:[a-z0-9]+]]: !llvm.ptr<1>, %[[I:[a-z0-9]+]]: i32, %[[C:[a-z0-9]+]]: i1)
func.func @k(%a: !llvm.ptr<1>, %i: i32, %c: i1) attributes {baton.kernel} {
  scf.if %c {
    baton.stage "early" {
      // CHECK: baton.scalar_load %[[A]][%[[I]]]
      %x = baton.scalar_load %a[%i] : i32
      baton.yield
    }
    // CHECK: %[[A2:.*]] = llvm.load {{.*}} -> !llvm.ptr<1>
    // CHECK: %[[I2:.*]] = llvm.load {{.*}} -> i32
    baton.reread_arguments
    // CHECK: baton.scalar_load %[[A2]][%[[I2]]]
    baton.stage "late" {
      %x = baton.scalar_load %a[%i] : i32
      baton.yield
    }
  }
  // CHECK: baton.scalar_load %[[A]][%[[I]]]
  baton.stage "behind" {
    %x = baton.scalar_load %a[%i] : i32
    baton.yield
  }
  // CHECK: %[[A3:.*]] = llvm.load {{.*}} -> !llvm.ptr<1>
  baton.reread_arguments
  scf.if %c {
    // CHECK: scf.if
    // CHECK: %[[A4:.*]] = llvm.load {{.*}} -> !llvm.ptr<1>
    baton.reread_arguments
    // CHECK: baton.scalar_load %[[A4]]
    baton.stage "inner" {
      %x = baton.scalar_load %a[%i] : i32
      baton.yield
    }
  }
  // CHECK: baton.scalar_load %[[A3]]
  baton.stage "outer" {
    %x = baton.scalar_load %a[%i] : i32
    baton.yield
  }
  return
}
