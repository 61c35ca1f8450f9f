// A kernel with every op of the dialect: the whole pipeline leaves the llvm and rocdl dialects alone.
// RUN: sed s/CHIP/gfx950/ %s | baton-opt -baton-pipeline --mlir-print-op-generic | FileCheck %s --implicit-check-not='"baton.' --implicit-check-not='"arith.' --implicit-check-not='"scf.' --implicit-check-not='"cf.' --implicit-check-not='"func.' --implicit-check-not='"math.' --implicit-check-not='"vector.' --implicit-check-not='"builtin.unrealized' --implicit-check-not='!baton.'
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -baton-pipeline --mlir-print-op-generic | FileCheck %s --implicit-check-not='"baton.' --implicit-check-not='"arith.' --implicit-check-not='"scf.' --implicit-check-not='"cf.' --implicit-check-not='"func.' --implicit-check-not='"math.' --implicit-check-not='"vector.' --implicit-check-not='"builtin.unrealized' --implicit-check-not='!baton.'
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -baton-pipeline --mlir-print-op-generic | FileCheck %s --implicit-check-not='"baton.' --implicit-check-not='"arith.' --implicit-check-not='"scf.' --implicit-check-not='"cf.' --implicit-check-not='"func.' --implicit-check-not='"math.' --implicit-check-not='"vector.' --implicit-check-not='"builtin.unrealized' --implicit-check-not='!baton.'

// The lowered module is one that LLVM verifies.
// RUN: sed s/CHIP/gfx950/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -passes=verify -disable-output
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -passes=verify -disable-output
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -passes=verify -disable-output

// The manifest goes through.
// CHECK: "builtin.module"()
// CHECK: "llvm.func"() <{{.*}}sym_name = "k"
// CHECK: rocdl.kernel
// CHECK: }) {baton.bounded_waits, baton.chip = "gfx9{{[0-9a-f]+}}",
// CHECK-SAME: baton.key = "k:tokens=1"
// CHECK-SAME: baton.peer_half_bytes = 2304 : i64
// CHECK-SAME: name = "sums"
// CHECK-SAME: name = "flag"
// CHECK-SAME: name = "x"
// CHECK-SAME: protocol = "plain"
// CHECK-SAME: name = "ar"
// CHECK-SAME: name = "far"
// CHECK-SAME: baton.scratch_bytes = 768 : i64
// CHECK-SAME: baton.stages = ["send", "receive"]
// CHECK-SAME: baton.timeline = ["send", "receive"]
module attributes {baton.chip = "CHIP", baton.key = "k:tokens=1", baton.workgroup = 512 : i64,
                   baton.grid = 2 : i64, baton.stages = ["send", "receive"]} {
  baton.region @sums scratch tagged f32 shape [8]
  baton.region @flag scratch tagged i32 shape [4]
  baton.region @x scratch plain bf16 shape [2, 8]
  baton.region @ar peer tagged bf16 shape [8, 2]
  baton.region @far peer sentinel bf16 shape [8, 1, 128]
  baton.lds @rows offset 0 bytes 1024
  func.func @k(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %out: !llvm.ptr<1>,
               %slot: i32, %rank: i32, %diag: !llvm.ptr<1>, %tl: !llvm.ptr<1>)
      attributes {baton.kernel} {
    %t = baton.thread_id below 512
    %cta = baton.cta_id below 2
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c16 = arith.constant 16 : i32
    baton.timeline %tl
    %h = baton.handoffs scratch %s epoch %e slot %slot peers %p rank %rank diag %diag
    %b = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %acc = baton.stage "send" -> vector<4xf32> {
      %o = arith.muli %t, %c16 : i32
      %w = baton.load %b[%o] wave streaming : vector<4xi32>
      %a = vector.bitcast %w : vector<4xi32> to vector<8xbf16>
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %d = baton.mfma %a, %a, %zero : vector<8xbf16>, vector<4xf32>
      %f = vector.extract %d[0] : f32 from vector<4xf32>
      %sum = baton.butterfly %f offsets [32, 16, 8, 4, 2, 1] : f32 {
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        baton.yield %z : f32
      }
      %first = arith.cmpi eq, %t, %c0 : i32
      scf.if %first {
        baton.put %h @sums[%cta] = %sum : f32
        baton.put %h @ar[%rank] of %c3 raw = %c1 : i32
        baton.put %h @ar[%rank] of %slot raw = %c1 : i32
      }
      baton.put_sent %h @far[%t] of %rank = %t : i32
      baton.store %w, %b[%o] device : vector<4xi32>
      %x = baton.rows %h @x
      %half = baton.load %x[%cta] device : i16
      baton.store %half, %x[%cta] device : i16
      baton.publish %h @flag[%cta]
      baton.yield %d : vector<4xf32>
    }
    baton.reread_arguments
    baton.stage "receive" {
      %v:2 = baton.poll %h [@sums] at (%c0) words [2] : f32, f32
      %u = baton.poll %h [@ar] at (%rank) words [1] : vector<2xbf16>
      %fl = baton.poll %h [@flag] at (%c1) words [1] : i32
      %s0 = baton.poll_sent %h [@far] at (%t) : i32
      baton.store %s0, %b[%t] wave : i32
      baton.rearm %h @far[%t]
      baton.barrier
      %scan = baton.wave_scan %fl : i32
      %o = arith.andi %t, %c3 : i32
      %byte = arith.muli %o, %c16 : i32
      baton.lds_store %acc, @rows[%byte] : vector<4xf32>
      baton.barrier
      %l = baton.lds_load @rows[%byte] : vector<4xi32>
      baton.store %l, %b[%byte] system : vector<4xi32>
      baton.store %scan, %b[%byte] wave : i32
      %e0 = baton.scalar_load %e[%c0] : i32
      baton.store %e0, %b[%byte] wave : i32
      %bits = arith.bitcast %v#0 : f32 to i32
      baton.store %bits, %b[%byte] wave : i32
      %ub = vector.bitcast %u : vector<2xbf16> to vector<1xi32>
      %u0 = vector.extract %ub[0] : i32 from vector<1xi32>
      baton.store %u0, %b[%byte] workgroup : i32
      baton.yield
    }
    return
  }
}
