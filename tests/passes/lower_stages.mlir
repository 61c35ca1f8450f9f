// RUN: baton-opt %s -split-input-file -lower-stages --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: baton-opt %s -split-input-file -lower-stages | FileCheck %s --check-prefix=BODY

// The body moves to where the stage stood, its results become what it yielded.
// BODY-LABEL: func.func @k
// BODY-SAME: (%[[X:.*]]: i32)
// BODY-NEXT: %[[A:.*]] = arith.addi %[[X]], %[[X]] : i32
// BODY-NEXT: %[[Y:.*]] = arith.muli %[[A]], %[[X]] : i32
// BODY-NEXT: %[[Z:.*]] = arith.divsi %[[Y]], %[[Y]] : i32
// BODY-NEXT: %[[P:.*]] = arith.subi %[[Z]], %[[X]] : i32
// BODY-NEXT: arith.xori %[[P]], %[[X]] : i32
// BODY-NEXT: %[[U:.*]] = arith.ori %[[P]], %[[X]] : i32
// BODY-NEXT: return %[[U]]

// Lines outside the stages are the kernel's; a stage's are those of a subprogram that is inlined at
// the stage's line, and another file's in a block of that file; a hand-off is inlined within it.
// CHECK-LABEL: func.func @k
func.func @k(%x: i32) -> i32 {
  // CHECK: arith.addi {{.*}} loc(fused<#llvm.di_subprogram<id = distinct[[[K:[0-9]+]]]<>, {{.*}}sourceLanguage = DW_LANG_C_plus_plus_20, file = <"kernel.cpp" in "">, {{.*}}emissionKind = LineTablesOnly>, {{.*}}name = "k", {{.*}}line = 4, scopeLine = 4, {{.*}}>["kernel.cpp":5:3])
  %a = arith.addi %x, %x : i32 loc("kernel.cpp":5:3)
  %r = baton.stage "reduce" -> i32 {
    // CHECK: arith.muli {{.*}} loc(callsite(fused<#llvm.di_subprogram<id = distinct[[[S:[0-9]+]]]<>, {{.*}}name = "stage reduce", {{.*}}line = 7, scopeLine = 7, {{.*}}>["kernel.cpp":8:5] at fused<#llvm.di_subprogram<id = distinct[[[K]]]<>, {{.*}}name = "k", {{.*}}>["kernel.cpp":7:3]))
    %y = arith.muli %a, %x : i32 loc("kernel.cpp":8:5)
    // CHECK: arith.divsi {{.*}} loc(callsite(fused<#llvm.di_lexical_block_file<scope = #llvm.di_subprogram<id = distinct[[[S]]]<>, {{.*}}name = "stage reduce", {{.*}}>, file = <"shared.h" in "">, discriminator = 0>>["shared.h":3:1] at fused<#llvm.di_subprogram<id = distinct[[[K]]]<>, {{.*}}name = "k", {{.*}}>["kernel.cpp":7:3]))
    %z = arith.divsi %y, %y : i32 loc("shared.h":3:1)
    // CHECK: arith.subi {{.*}} loc(callsite(fused<#llvm.di_subprogram<id = distinct[{{[0-9]+}}]<>, {{.*}}name = "put ar", {{.*}}>["kernel.cpp":9:5] at callsite(fused<#llvm.di_subprogram<id = distinct[[[S]]]<>, {{.*}}name = "stage reduce", {{.*}}>["kernel.cpp":9:5] at fused<#llvm.di_subprogram<id = distinct[[[K]]]<>, {{.*}}name = "k", {{.*}}>["kernel.cpp":7:3])))
    %p = arith.subi %z, %x : i32 loc("put ar"("kernel.cpp":9:5))
    baton.yield %p : i32
  } loc("kernel.cpp":7:3)
  // A stage that is opened again is the same one, inlined at another line.
  baton.stage "reduce" {
    // CHECK: arith.xori {{.*}} loc(callsite(fused<#llvm.di_subprogram<id = distinct[[[S]]]<>, {{.*}}>["kernel.cpp":12:5] at fused<{{.*}}name = "k", {{.*}}>["kernel.cpp":11:3]))
    %q = arith.xori %r, %x : i32 loc("kernel.cpp":12:5)
    baton.yield
  } loc("kernel.cpp":11:3)
  // CHECK: arith.ori {{.*}} loc(unknown)
  %u = arith.ori %r, %x : i32 loc(unknown)
  // CHECK: return {{.*}} loc(fused<{{.*}}name = "k", {{.*}}>["kernel.cpp":14:3])
  return %u : i32 loc("kernel.cpp":14:3)
  // CHECK-NEXT: } loc(fused<#llvm.di_subprogram<id = distinct[[[K]]]<>, {{.*}}name = "k", {{.*}}>["kernel.cpp":4:1])
} loc("kernel.cpp":4:1)

// -----

// A stage within a branch; a kernel without lines gets no debug scopes.
// BODY-LABEL: func.func @branch
// BODY-SAME: (%[[C:.*]]: i1, %[[X:.*]]: i32)
// BODY-NEXT: scf.if %[[C]] {
// BODY-NEXT:   arith.addi %[[X]], %[[X]] : i32
// BODY-NEXT: }
// CHECK-LABEL: func.func @branch
// CHECK-NOT: di_subprogram
func.func @branch(%c: i1, %x: i32) {
  scf.if %c {
    baton.stage "s" {
      %y = arith.addi %x, %x : i32
      baton.yield
    }
  }
  return
} loc(unknown)
