// RUN: sed s/CHIP/gfx950/ %s | baton-opt -lower-lanes | FileCheck %s --check-prefixes=CHECK,SWAP
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -lower-lanes | FileCheck %s --check-prefixes=CHECK,NOSWAP
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -lower-lanes | FileCheck %s --check-prefixes=CHECK,NOSWAP
// RUN: sed s/baton.chip.*CHIP.// %s | not baton-opt -lower-lanes 2>&1 | FileCheck %s --check-prefix=NOCHIP

// DPP controls, from the CDNA ISA documents: quad_perm is 8 bits, two a lane, lane 0 lowest;
// row_shr:n is 0x110 + n, row_ror:n 0x120 + n, row_half_mirror 0x141, row_bcast:15 0x142,
// row_bcast:31 0x143. Row mask, bank mask and bound_ctrl follow.

// NOCHIP: error: the module does not say for which chip it is: give it 'baton.chip'
module attributes {baton.chip = "CHIP"} {
  // quad_perm:[1,0,3,2] = 1 + 0 * 4 + 3 * 16 + 2 * 64 = 177.
  // CHECK-LABEL: func.func @xor1
  // CHECK-SAME: (%[[V:.*]]: i32)
  func.func @xor1(%v: i32) -> i32 {
    // CHECK: %[[B:.*]] = rocdl.update.dpp %{{.*}}, %[[V]] with 177, 15, 15, true : i32
    // CHECK-NEXT: %[[S:.*]] = arith.subi %[[V]], %[[B]] : i32
    // CHECK-NEXT: return %[[S]]
    %r = baton.butterfly %v offsets [1] : i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.subi %a, %b : i32
      baton.yield %s : i32
    }
    return %r : i32
  }

  // quad_perm:[2,3,0,1] = 2 + 3 * 4 + 0 * 16 + 1 * 64 = 78.
  // CHECK-LABEL: func.func @xor2
  // CHECK-SAME: (%[[V:.*]]: i32)
  func.func @xor2(%v: i32) -> i32 {
    // CHECK: %[[B:.*]] = rocdl.update.dpp %{{.*}}, %[[V]] with 78, 15, 15, true : i32
    // CHECK-NEXT: arith.addi %[[V]], %[[B]] : i32
    %r = baton.butterfly %v offsets [2] : i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      baton.yield %s : i32
    }
    return %r : i32
  }

  // lane ^ 7 (row_half_mirror, 321), then ^ 3: quad_perm:[3,2,1,0] = 3 + 2 * 4 + 1 * 16 = 27.
  // A float travels as its word.
  // CHECK-LABEL: func.func @xor4
  // CHECK-SAME: (%[[V:.*]]: f32)
  func.func @xor4(%v: f32) -> f32 {
    // CHECK: %[[W:.*]] = arith.bitcast %[[V]] : f32 to i32
    // CHECK: %[[M:.*]] = rocdl.update.dpp %{{.*}}, %[[W]] with 321, 15, 15, true : i32
    // CHECK: %[[X:.*]] = rocdl.update.dpp %{{.*}}, %[[M]] with 27, 15, 15, true : i32
    // CHECK: %[[B:.*]] = arith.bitcast %[[X]] : i32 to f32
    // CHECK-NEXT: arith.addf %{{.*}}, %[[B]] : f32
    %r = baton.butterfly %v offsets [4] : f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      baton.yield %s : f32
    }
    return %r : f32
  }

  // row_ror:8 = 0x128.
  // CHECK-LABEL: func.func @xor8
  // CHECK-SAME: (%[[V:.*]]: i32)
  func.func @xor8(%v: i32) -> i32 {
    // CHECK: %[[B:.*]] = rocdl.update.dpp %{{.*}}, %[[V]] with 296, 15, 15, true : i32
    // CHECK-NEXT: arith.addi %[[V]], %[[B]] : i32
    %r = baton.butterfly %v offsets [8] : i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      baton.yield %s : i32
    }
    return %r : i32
  }

  // A swap of a word with itself leaves both lanes' values. Without it: ds_swizzle in bit-mask mode,
  // and mask 31, or mask 0, xor mask 16: 31 + 16 * 1024 = 16415.
  // CHECK-LABEL: func.func @xor16
  // CHECK-SAME: (%[[V:.*]]: i32)
  func.func @xor16(%v: i32) -> i32 {
    // SWAP-NEXT: %[[P:.*]] = rocdl.permlane16.swap %[[V]], %[[V]], false, false
    // SWAP-NEXT: %[[A:.*]] = llvm.extractvalue %[[P]][0]
    // SWAP-NEXT: %[[B:.*]] = llvm.extractvalue %[[P]][1]
    // SWAP-NEXT: arith.addi %[[A]], %[[B]] : i32
    // NOSWAP-NEXT: %[[XOR:.*]] = arith.constant 16415 : i32
    // NOSWAP-NEXT: %[[B:.*]] = rocdl.ds_swizzle %[[V]], %[[XOR]]
    // NOSWAP-NEXT: arith.addi %[[V]], %[[B]] : i32
    %r = baton.butterfly %v offsets [16] : i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      baton.yield %s : i32
    }
    return %r : i32
  }

  // ds_bpermute reads the lane at byte / 4.
  // CHECK-LABEL: func.func @xor32
  // CHECK-SAME: (%[[V:.*]]: i32)
  func.func @xor32(%v: i32) -> i32 {
    // SWAP-NEXT: %[[P:.*]] = rocdl.permlane32.swap %[[V]], %[[V]], false, false
    // SWAP-NEXT: %[[A:.*]] = llvm.extractvalue %[[P]][0]
    // SWAP-NEXT: %[[B:.*]] = llvm.extractvalue %[[P]][1]
    // SWAP-NEXT: arith.addi %[[A]], %[[B]] : i32
    // NOSWAP-NEXT: %[[ALL:.*]] = arith.constant -1 : i32
    // NOSWAP-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
    // NOSWAP-NEXT: %[[LOW:.*]] = rocdl.mbcnt.lo %[[ALL]], %[[ZERO]]
    // NOSWAP-NEXT: %[[LANE:.*]] = rocdl.mbcnt.hi %[[ALL]], %[[LOW]]
    // NOSWAP-NEXT: %[[C32:.*]] = arith.constant 32 : i32
    // NOSWAP-NEXT: %[[OTHER:.*]] = arith.xori %[[LANE]], %[[C32]] : i32
    // NOSWAP-NEXT: %[[C2:.*]] = arith.constant 2 : i32
    // NOSWAP-NEXT: %[[BYTE:.*]] = arith.shli %[[OTHER]], %[[C2]] : i32
    // NOSWAP-NEXT: %[[B:.*]] = rocdl.ds_bpermute %[[BYTE]], %[[V]]
    // NOSWAP-NEXT: arith.addi %[[V]], %[[B]] : i32
    %r = baton.butterfly %v offsets [32] : i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      baton.yield %s : i32
    }
    return %r : i32
  }

  // Offsets in the given order, each on the result of the one before; values are combined together.
  // CHECK-LABEL: func.func @argmax
  // CHECK-SAME: (%[[K:.*]]: i32, %[[I:.*]]: i32)
  func.func @argmax(%key: i32, %index: i32) -> (i32, i32) {
    // CHECK: %[[K8:.*]] = rocdl.update.dpp %{{.*}}, %[[K]] with 296, 15, 15, true : i32
    // CHECK: %[[I8:.*]] = rocdl.update.dpp %{{.*}}, %[[I]] with 296, 15, 15, true : i32
    // CHECK: %[[G:.*]] = arith.cmpi sgt, %[[K]], %[[K8]] : i32
    // CHECK: %[[K2:.*]] = arith.select %[[G]], %[[K]], %[[K8]] : i32
    // CHECK: %[[I2:.*]] = arith.select %[[G]], %[[I]], %[[I8]] : i32
    // CHECK: rocdl.update.dpp %{{.*}}, %[[K2]] with 78, 15, 15, true : i32
    // CHECK: rocdl.update.dpp %{{.*}}, %[[I2]] with 78, 15, 15, true : i32
    // CHECK: arith.select
    // CHECK: arith.select
    // CHECK-NEXT: return
    %r:2 = baton.butterfly %key, %index offsets [8, 2] : i32, i32 {
    ^bb0(%ka: i32, %ia: i32, %kb: i32, %ib: i32):
      %greater = arith.cmpi sgt, %ka, %kb : i32
      %k = arith.select %greater, %ka, %kb : i32
      %i = arith.select %greater, %ia, %ib : i32
      baton.yield %k, %i : i32, i32
    }
    return %r#0, %r#1 : i32, i32
  }

  // Within rows of 16: row_shr 1, 2, 4, 8 (zeros come in); across rows: row_bcast:15 into rows 1 and
  // 3 (row mask 0b1010), row_bcast:31 into rows 2 and 3 (0b1100); other rows add 0.
  // CHECK-LABEL: func.func @scan
  // CHECK-SAME: (%[[V:.*]]: i32)
  func.func @scan(%v: i32) -> i32 {
    // CHECK: %[[D1:.*]] = rocdl.update.dpp %{{.*}}, %[[V]] with 273, 15, 15, true : i32
    // CHECK-NEXT: %[[S1:.*]] = arith.addi %[[V]], %[[D1]] : i32
    // CHECK: %[[D2:.*]] = rocdl.update.dpp %{{.*}}, %[[S1]] with 274, 15, 15, true : i32
    // CHECK-NEXT: %[[S2:.*]] = arith.addi %[[S1]], %[[D2]] : i32
    // CHECK: %[[D4:.*]] = rocdl.update.dpp %{{.*}}, %[[S2]] with 276, 15, 15, true : i32
    // CHECK-NEXT: %[[S4:.*]] = arith.addi %[[S2]], %[[D4]] : i32
    // CHECK: %[[D8:.*]] = rocdl.update.dpp %{{.*}}, %[[S4]] with 280, 15, 15, true : i32
    // CHECK-NEXT: %[[S8:.*]] = arith.addi %[[S4]], %[[D8]] : i32
    // CHECK: %[[Z15:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: %[[D15:.*]] = rocdl.update.dpp %[[Z15]], %[[S8]] with 322, 10, 15, true : i32
    // CHECK-NEXT: %[[S15:.*]] = arith.addi %[[S8]], %[[D15]] : i32
    // CHECK: %[[Z31:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: %[[D31:.*]] = rocdl.update.dpp %[[Z31]], %[[S15]] with 323, 12, 15, true : i32
    // CHECK-NEXT: %[[S31:.*]] = arith.addi %[[S15]], %[[D31]] : i32
    // CHECK-NEXT: return %[[S31]]
    %r = baton.wave_scan %v : i32
    return %r : i32
  }
}
