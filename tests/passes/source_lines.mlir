// What a check refuses or remarks on is named by stage and by the author's file and line.
// RUN: not baton-opt %s -split-input-file -check-handoffs -check-lds 2>&1 | FileCheck %s

// CHECK: kernels/exchange.cpp:41:3: error: stage 'reduce': polls region 'ar', which nothing puts
module attributes {baton.chip = "gfx950"} {
  baton.region @ar peer tagged f32 shape [8]
  func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
    %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
    baton.stage "reduce" {
      %v = baton.poll %h [@ar] at (%i) words [1] : f32 loc("kernels/exchange.cpp":41:3)
      baton.yield
    } loc("kernels/exchange.cpp":40:1)
    return
  }
}

// -----

// CHECK: kernels/exchange.cpp:23:5: remark: stage 'wait': polls behind 1 streaming loads in flight
module attributes {baton.chip = "gfx950"} {
  baton.region @ar scratch tagged f32 shape [8]
  func.func @k(%p: !llvm.ptr<1>, %i: i32, %b: !baton.buffer, %x: f32) attributes {baton.kernel} {
    %h = baton.handoffs scratch %p epoch %p slot %i
    baton.put %h @ar[%i] = %x : f32
    %w = baton.load %b[%i] wave streaming : i32
    baton.stage "wait" {
      %v = baton.poll %h [@ar] at (%i) words [1] : f32 loc("kernels/exchange.cpp":23:5)
      baton.yield
    }
    return
  }
}

// -----

// CHECK: kernels/exchange.cpp:52:7: error: stage 'o': accesses bytes 64 .. 67 of LDS range 'rows', which has 64
module attributes {baton.chip = "gfx950"} {
  baton.lds @rows offset 0 bytes 64
  func.func @k() {
    baton.stage "o" {
      %end = arith.constant 64 : i32
      %v = baton.lds_load @rows[%end] : i32 loc("kernels/exchange.cpp":52:7)
      baton.yield
    }
    return
  }
}

// -----

// CHECK: kernels/exchange.cpp:12:1: error: LDS takes 163841 bytes up to the end of 'rows', gfx950 has 163840
module attributes {baton.chip = "gfx950"} {
  baton.lds @rows offset 0 bytes 163841 loc("kernels/exchange.cpp":12:1)
}
