// RUN: sed s/CHIP/gfx950/ %s | baton-opt -lower-matrix | FileCheck %s --check-prefixes=CHECK,K32
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -lower-matrix | FileCheck %s --check-prefixes=CHECK,K16
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -lower-matrix | FileCheck %s --check-prefixes=CHECK,K16

module attributes {baton.chip = "CHIP"} {
  // One 16x16x32 where the chip has it; else two 16x16x16, the low four k of every lane first, the
  // second into the first one's accumulator. cbsz, abid and blgp are 0.
  // CHECK-LABEL: func.func @step
  // CHECK-SAME: (%[[A:.*]]: vector<8xbf16>, %[[B:.*]]: vector<8xbf16>, %[[C:.*]]: vector<4xf32>)
  func.func @step(%a: vector<8xbf16>, %b: vector<8xbf16>, %c: vector<4xf32>) -> vector<4xf32> {
    // CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : i32
    // K32-NEXT: %[[D:.*]] = rocdl.mfma.f32.16x16x32.bf16 %[[A]], %[[B]], %[[C]], %[[Z]], %[[Z]], %[[Z]]
    // K16-NEXT: %[[AL:.*]] = vector.shuffle %[[A]], %[[A]] [0, 1, 2, 3]
    // K16-NEXT: %[[AL16:.*]] = vector.bitcast %[[AL]] : vector<4xbf16> to vector<4xi16>
    // K16-NEXT: %[[BL:.*]] = vector.shuffle %[[B]], %[[B]] [0, 1, 2, 3]
    // K16-NEXT: %[[BL16:.*]] = vector.bitcast %[[BL]] : vector<4xbf16> to vector<4xi16>
    // K16-NEXT: %[[D1:.*]] = rocdl.mfma.f32.16x16x16bf16.1k %[[AL16]], %[[BL16]], %[[C]], %[[Z]], %[[Z]], %[[Z]]
    // K16-NEXT: %[[AH:.*]] = vector.shuffle %[[A]], %[[A]] [4, 5, 6, 7]
    // K16-NEXT: %[[AH16:.*]] = vector.bitcast %[[AH]] : vector<4xbf16> to vector<4xi16>
    // K16-NEXT: %[[BH:.*]] = vector.shuffle %[[B]], %[[B]] [4, 5, 6, 7]
    // K16-NEXT: %[[BH16:.*]] = vector.bitcast %[[BH]] : vector<4xbf16> to vector<4xi16>
    // K16-NEXT: %[[D:.*]] = rocdl.mfma.f32.16x16x16bf16.1k %[[AH16]], %[[BH16]], %[[D1]], %[[Z]], %[[Z]], %[[Z]]
    // CHECK-NEXT: return %[[D]]
    %d = baton.mfma %a, %b, %c : vector<8xbf16>, vector<4xf32>
    return %d : vector<4xf32>
  }
}
