// Every op of the dialect is printed as it is parsed.
// RUN: baton-opt %s | baton-opt | FileCheck %s
// RUN: baton-opt --mlir-print-op-generic %s | baton-opt | FileCheck %s

// CHECK: module attributes {baton.args = [{kind = "i32", name = "rank"}], baton.bounded_waits,
// CHECK-SAME: baton.chip = "gfx950", baton.grid = 256 : i64, baton.key = "k:tokens=1",
// CHECK-SAME: baton.stages = ["a", "b"], baton.timeline = ["a", "b"],
// CHECK-SAME: baton.workgroup = 512 : i64}
module attributes {baton.chip = "gfx950", baton.key = "k:tokens=1", baton.grid = 256 : i64,
                   baton.workgroup = 512 : i64, baton.stages = ["a", "b"], baton.timeline = ["a", "b"],
                   baton.bounded_waits,
                   baton.args = [{name = "rank", kind = "i32"}]} {
  // CHECK-NEXT: baton.region @sums scratch tagged f32 shape [8, 9]
  baton.region @sums scratch tagged f32 shape [8, 9]
  // CHECK-NEXT: baton.region @flags scratch tagged i32 shape [4] offset 768
  baton.region @flags scratch tagged i32 shape [4] offset 768
  // CHECK-NEXT: baton.region @x scratch plain bf16 shape [8, 7168]
  baton.region @x scratch plain bf16 shape [8, 7168]
  // CHECK-NEXT: baton.region @ar peer tagged bf16 shape [8, 1, 7168]
  baton.region @ar peer tagged bf16 shape [8, 1, 7168]
  // CHECK-NEXT: baton.region @near scratch sentinel bf16 shape [1, 2, 16] offset 1024
  baton.region @near scratch sentinel bf16 shape [1, 2, 16] offset 1024
  // CHECK-NEXT: baton.region @far peer sentinel bf16 shape [8, 1, 7168]
  baton.region @far peer sentinel bf16 shape [8, 1, 7168]
  // CHECK-NEXT: baton.lds @rows offset 0 bytes 2048
  baton.lds @rows offset 0 bytes 2048
  // CHECK-NEXT: baton.lds @sums_lds offset 2048 bytes 4
  baton.lds @sums_lds offset 2048 bytes 4

  // CHECK-LABEL: func.func @where() attributes {baton.kernel}
  func.func @where() attributes {baton.kernel} {
    // CHECK-NEXT: baton.thread_id below 512
    %t = baton.thread_id below 512
    // CHECK-NEXT: baton.cta_id below 256
    %c = baton.cta_id below 256
    // CHECK-NEXT: baton.barrier
    baton.barrier
    return
  }

  // CHECK-LABEL: func.func @stages
  // CHECK-SAME: (%[[X:.*]]: i32)
  func.func @stages(%x: i32) {
    // CHECK-NEXT: baton.stage "empty" {
    // CHECK-NEXT:   baton.yield
    // CHECK-NEXT: }
    baton.stage "empty" { baton.yield }
    // CHECK-NEXT: %{{.*}}:2 = baton.stage "two results" -> i32, i32 {
    // CHECK-NEXT:   baton.yield %[[X]], %[[X]] : i32, i32
    %r:2 = baton.stage "two results" -> i32, i32 { baton.yield %x, %x : i32, i32 }
    return
  }

  // CHECK-LABEL: func.func @global
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[A:.*]]: i64, %[[O:.*]]: i32)
  func.func @global(%p: !llvm.ptr<1>, %a: i64, %o: i32) {
    // CHECK-NEXT: %[[B:.*]] = baton.buffer %[[P]] bytes 4294967295 : !llvm.ptr<1>
    %b = baton.buffer %p bytes 4294967295 : !llvm.ptr<1>
    // CHECK-NEXT: baton.buffer %[[A]] bytes 1 : i64
    %b2 = baton.buffer %a bytes 1 : i64
    // CHECK-NEXT: %[[W1:.*]] = baton.load %[[B]][%[[O]]] wave : i32
    %w1 = baton.load %b[%o] wave : i32
    // CHECK-NEXT: %[[W2:.*]] = baton.load %[[B]][%[[O]]] workgroup : vector<2xi32>
    %w2 = baton.load %b[%o] workgroup : vector<2xi32>
    // CHECK-NEXT: %[[W4:.*]] = baton.load %[[B]][%[[O]]] device streaming : vector<4xi32>
    %w4 = baton.load %b[%o] device streaming : vector<4xi32>
    // CHECK-NEXT: baton.store %[[W1]], %[[B]][%[[O]]] system : i32
    baton.store %w1, %b[%o] system : i32
    // CHECK-NEXT: baton.store %[[W2]], %[[B]][%[[O]]] wave : vector<2xi32>
    baton.store %w2, %b[%o] wave : vector<2xi32>
    // CHECK-NEXT: baton.store %[[W4]], %[[B]][%[[O]]] workgroup : vector<4xi32>
    baton.store %w4, %b[%o] workgroup : vector<4xi32>
    // CHECK-NEXT: baton.scalar_load %[[P]][%[[O]]] : i32
    %s = baton.scalar_load %p[%o] : i32
    // CHECK-NEXT: baton.scalar_load %[[P]][%[[O]]] : i64
    %l = baton.scalar_load %p[%o] : i64
    return
  }

  // CHECK-LABEL: func.func @lds
  // CHECK-SAME: (%[[O:.*]]: i32, %[[H:.*]]: bf16)
  func.func @lds(%o: i32, %h: bf16) {
    // CHECK-NEXT: %[[V:.*]] = baton.lds_load @rows[%[[O]]] : vector<8xbf16>
    %v = baton.lds_load @rows[%o] : vector<8xbf16>
    // CHECK-NEXT: baton.lds_store %[[V]], @rows[%[[O]]] : vector<8xbf16>
    baton.lds_store %v, @rows[%o] : vector<8xbf16>
    // CHECK-NEXT: baton.lds_store %[[H]], @sums_lds[%[[O]]] : bf16
    baton.lds_store %h, @sums_lds[%o] : bf16
    return
  }

  // CHECK-LABEL: func.func @lanes
  // CHECK-SAME: (%[[X:.*]]: f32, %[[I:.*]]: i32)
  func.func @lanes(%x: f32, %i: i32) {
    // CHECK-NEXT: %{{.*}}:2 = baton.butterfly %[[X]], %[[I]] offsets [32, 16, 8, 4, 2, 1] : f32, i32 {
    // CHECK-NEXT: ^bb0(%[[XA:.*]]: f32, %[[IA:.*]]: i32, %[[XB:.*]]: f32, %[[IB:.*]]: i32):
    // CHECK-NEXT:   %[[S:.*]] = arith.addf %[[XA]], %[[XB]] : f32
    // CHECK-NEXT:   %[[M:.*]] = arith.minsi %[[IA]], %[[IB]] : i32
    // CHECK-NEXT:   baton.yield %[[S]], %[[M]] : f32, i32
    %r:2 = baton.butterfly %x, %i offsets [32, 16, 8, 4, 2, 1] : f32, i32 {
    ^bb0(%xa: f32, %ia: i32, %xb: f32, %ib: i32):
      %s = arith.addf %xa, %xb : f32
      %m = arith.minsi %ia, %ib : i32
      baton.yield %s, %m : f32, i32
    }
    // CHECK: baton.wave_scan %[[I]] : i32
    %scan = baton.wave_scan %i : i32
    return
  }

  // CHECK-LABEL: func.func @matrix
  // CHECK-SAME: (%[[A:.*]]: vector<8xbf16>, %[[B:.*]]: vector<8xbf16>, %[[C:.*]]: vector<4xf32>)
  func.func @matrix(%a: vector<8xbf16>, %b: vector<8xbf16>, %c: vector<4xf32>) {
    // CHECK-NEXT: baton.mfma %[[A]], %[[B]], %[[C]] : vector<8xbf16>, vector<4xf32>
    %d = baton.mfma %a, %b, %c : vector<8xbf16>, vector<4xf32>
    return
  }

  // CHECK-LABEL: func.func @local_handoffs
  // CHECK-SAME: (%[[S:.*]]: !llvm.ptr<1>, %[[E:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32, %[[F:.*]]: f32)
  func.func @local_handoffs(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %i: i32, %f: f32)
      attributes {baton.kernel} {
    // CHECK-NEXT: %[[H:.*]] = baton.handoffs scratch %[[S]] epoch %[[E]] slot %[[I]]
    %h = baton.handoffs scratch %s epoch %e slot %i
    // CHECK-NEXT: baton.put %[[H]] @sums[%[[I]]] = %[[F]] : f32
    baton.put %h @sums[%i] = %f : f32
    // CHECK-NEXT: baton.put %[[H]] @sums[%[[I]]] raw = %[[I]], %[[I]] : i32, i32
    baton.put %h @sums[%i] raw = %i, %i : i32, i32
    // CHECK-NEXT: baton.rows %[[H]] @x
    %x = baton.rows %h @x
    // CHECK-NEXT: baton.publish %[[H]] @flags[%[[I]]]
    baton.publish %h @flags[%i]
    // CHECK-NEXT: baton.poll %[[H]] [@flags] at(%[[I]]) words [1] behind_loads : i32
    %ready = baton.poll %h [@flags] at (%i) words [1] behind_loads : i32
    // CHECK-NEXT: baton.reread_arguments
    baton.reread_arguments
    // CHECK-NEXT: baton.poll %[[H]] [@sums, @flags] at(%[[I]], %[[I]]) words [2, 1] : f32, f32, i32
    %w:3 = baton.poll %h [@sums, @flags] at (%i, %i) words [2, 1] : f32, f32, i32
    return
  }

  // CHECK-LABEL: func.func @peer_handoffs
  // CHECK-SAME: (%[[S:.*]]: !llvm.ptr<1>, %[[E:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32, %[[V:.*]]: vector<2xbf16>)
  func.func @peer_handoffs(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %i: i32, %v: vector<2xbf16>)
      attributes {baton.kernel} {
    // CHECK-NEXT: %[[H:.*]] = baton.handoffs scratch %[[S]] epoch %[[E]] slot %[[I]] peers %[[S]] rank %[[I]]
    %h = baton.handoffs scratch %s epoch %e slot %i peers %s rank %i
    // CHECK-NEXT: baton.put %[[H]] @ar[%[[I]]] of %[[I]] = %[[V]], %[[V]] : vector<2xbf16>, vector<2xbf16>
    baton.put %h @ar[%i] of %i = %v, %v : vector<2xbf16>, vector<2xbf16>
    // CHECK-NEXT: baton.put %[[H]] @ar[%[[I]]] of %[[I]] raw = %[[I]] : i32
    baton.put %h @ar[%i] of %i raw = %i : i32
    // CHECK-NEXT: baton.poll %[[H]] [@ar, @ar] at(%[[I]], %[[I]]) words [1, 1] : vector<2xbf16>, i32
    %w:2 = baton.poll %h [@ar, @ar] at (%i, %i) words [1, 1] : vector<2xbf16>, i32
    return
  }

  // CHECK-LABEL: func.func @sentinel_words
  // CHECK-SAME: (%[[S:.*]]: !llvm.ptr<1>, %[[D:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32, %[[V:.*]]: vector<2xbf16>)
  func.func @sentinel_words(%s: !llvm.ptr<1>, %d: !llvm.ptr<1>, %i: i32, %v: vector<2xbf16>)
      attributes {baton.kernel} {
    // CHECK-NEXT: baton.timeline %[[D]]
    baton.timeline %d
    // CHECK-NEXT: %[[H:.*]] = baton.handoffs scratch %[[S]] epoch %[[S]] slot %[[I]] peers %[[S]] rank %[[I]] diag %[[D]]
    %h = baton.handoffs scratch %s epoch %s slot %i peers %s rank %i diag %d
    // CHECK-NEXT: baton.put_sent %[[H]] @near[%[[I]]] = %[[V]] : vector<2xbf16>
    baton.put_sent %h @near[%i] = %v : vector<2xbf16>
    // CHECK-NEXT: baton.put_sent %[[H]] @far[%[[I]]] of %[[I]] = %[[I]] : i32
    baton.put_sent %h @far[%i] of %i = %i : i32
    // CHECK-NEXT: baton.poll_sent %[[H]] [@near] at(%[[I]]) : vector<2xbf16>
    %w = baton.poll_sent %h [@near] at (%i) : vector<2xbf16>
    // CHECK-NEXT: baton.rearm %[[H]] @near[%[[I]]]
    baton.rearm %h @near[%i]
    // CHECK-NEXT: baton.poll_sent %[[H]] [@far, @far] at(%[[I]], %[[I]]) rearm : i32, vector<2xbf16>
    %x:2 = baton.poll_sent %h [@far, @far] at (%i, %i) rearm : i32, vector<2xbf16>
    return
  }

  // CHECK-LABEL: func.func @local_diagnostics
  // CHECK-SAME: (%[[S:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32)
  func.func @local_diagnostics(%s: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
    // CHECK-NEXT: baton.handoffs scratch %[[S]] epoch %[[S]] slot %[[I]] diag %[[S]]
    %h = baton.handoffs scratch %s epoch %s slot %i diag %s
    return
  }
}
