// The waits of a diagnostics build: lower-handoffs bounds each by the clock, and leaves a record.
// RUN: baton-opt %s -layout-regions -lower-handoffs -canonicalize | FileCheck %s

// CHECK: module attributes {baton.bounded_waits,
module attributes {baton.chip = "gfx950", baton.workgroup = 512 : i64, baton.grid = 4 : i64} {
  baton.region @sums scratch tagged f32 shape [8]
  baton.region @near scratch sentinel bf16 shape [1, 2, 16]

  // 10 s of the 100 MHz clock from the first try. The loop ends when no lane misses a word, or at the
  // end of that time; its results are the words, then what the lane misses first: whether any, which
  // word of the region, and the tag that stands there.
  // CHECK-LABEL: func.func @tagged
  // CHECK-SAME: %[[D:[a-z0-9]+]]: !llvm.ptr<1>, %[[SLOT:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32)
  func.func @tagged(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %d: !llvm.ptr<1>, %slot: i32, %i: i32)
      -> (i32, i32) attributes {baton.kernel} {
    // The region's id is the CRC-32 of "sums", 0x13AB4FB9, in 31 bits.
    // CHECK-DAG: %[[ID:.*]] = arith.constant 329994169 : i32
    // CHECK-DAG: %[[TICKS:.*]] = arith.constant 1000000000 : i64
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK: %[[EPOCH:.*]] = baton.scalar_load
    // CHECK: %[[LOW:.*]] = arith.addi %{{.*}}, %[[SLOT]] : i32
    // CHECK: %[[TAG:.*]] = arith.addi %[[LOW]], %[[C1]] : i32
    // CHECK: %[[LANE_TAG:.*]] = llvm.inline_asm asm_dialect = att "", "=v,0" %[[TAG]]
    // CHECK-NEXT: %[[START:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"() : () -> i64
    // CHECK-NEXT: %[[END:.*]] = arith.addi %[[START]], %[[TICKS]] : i64
    // CHECK-NEXT: %[[R:.*]]:5 = scf.while : () -> (i32, i32, i1, i32, i32) {
    // CHECK: %[[PAIRS:.*]] = baton.load %{{.*}}[%{{.*}}] device : vector<4xi32>
    // CHECK: %[[W0:.*]] = vector.extract %[[PAIRS]][0]
    // CHECK: %[[T0:.*]] = vector.extract %[[PAIRS]][1]
    // CHECK: %[[M0:.*]] = arith.cmpi ne, %[[T0]], %[[LANE_TAG]] : i32
    // CHECK: %[[W1:.*]] = vector.extract %[[PAIRS]][2]
    // CHECK: %[[T1:.*]] = vector.extract %[[PAIRS]][3]
    // CHECK: %[[M1:.*]] = arith.cmpi ne, %[[T1]], %[[LANE_TAG]] : i32
    // CHECK: llvm.fence syncscope("singlethread") acq_rel
    // CHECK: %[[LANES:.*]] = rocdl.ballot
    // CHECK: %[[MISSING:.*]] = arith.cmpi ne, %[[LANES]], %{{.*}} : i64
    // CHECK: %[[NOW:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"() : () -> i64
    // CHECK: %[[EARLY:.*]] = arith.cmpi slt, %[[NOW]], %[[END]] : i64
    // CHECK: %[[AGAIN:.*]] = arith.andi %[[MISSING]], %[[EARLY]] : i1
    // CHECK: %[[I1:.*]] = arith.addi %[[I]], %[[C1]] : i32
    // CHECK: %[[ANY:.*]] = arith.ori %[[M0]], %[[M1]] : i1
    // CHECK: %[[WHICH:.*]] = arith.select %[[M0]], %[[I]], %[[I1]] : i32
    // CHECK: %[[SEEN:.*]] = arith.select %[[M0]], %[[T0]], %[[T1]] : i32
    // CHECK: scf.condition(%[[AGAIN]]) %[[W0]], %[[W1]], %[[ANY]], %[[WHICH]], %[[SEEN]] :
    // CHECK: rocdl.s.sleep 1

    // A lane that misses a word races for its workgroup's record; who finds it empty fills it.
    // CHECK: scf.if %[[R]]#2 {
    // CHECK-NEXT: %[[CTA:.*]] = baton.cta_id below 4
    // CHECK-NEXT: %[[BYTE:.*]] = arith.muli %[[CTA]], %[[C32]] : i32
    // CHECK-NEXT: %[[RECORD:.*]] = llvm.getelementptr %[[D]][%[[BYTE]]]{{.*}}, i8
    // CHECK-NEXT: %[[TAKEN:.*]] = llvm.cmpxchg %[[RECORD]], %[[ZERO]], %[[C1]] syncscope("agent") monotonic monotonic
    // CHECK-NEXT: %[[WON:.*]] = llvm.extractvalue %[[TAKEN]][1]
    // CHECK-NEXT: scf.if %[[WON]] {
    // CHECK-NEXT: %[[TIME:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"() : () -> i64
    // CHECK-NEXT: %[[CLOCK:.*]] = arith.trunci %[[TIME]] : i64 to i32
    // CHECK-NEXT: %[[F1:.*]] = llvm.getelementptr %[[RECORD]][4]{{.*}}, i8
    // CHECK-NEXT: llvm.store %[[ID]], %[[F1]]
    // CHECK-NEXT: %[[F2:.*]] = llvm.getelementptr %[[RECORD]][8]{{.*}}, i8
    // CHECK-NEXT: llvm.store %[[R]]#3, %[[F2]]
    // CHECK-NEXT: %[[F3:.*]] = llvm.getelementptr %[[RECORD]][12]{{.*}}, i8
    // CHECK-NEXT: llvm.store %[[TAG]], %[[F3]]
    // CHECK-NEXT: %[[F4:.*]] = llvm.getelementptr %[[RECORD]][16]{{.*}}, i8
    // CHECK-NEXT: llvm.store %[[R]]#4, %[[F4]]
    // CHECK-NEXT: %[[F5:.*]] = llvm.getelementptr %[[RECORD]][20]{{.*}}, i8
    // CHECK-NEXT: llvm.store %[[CTA]], %[[F5]]
    // CHECK-NEXT: %[[F6:.*]] = llvm.getelementptr %[[RECORD]][24]{{.*}}, i8
    // CHECK-NEXT: llvm.store %[[CLOCK]], %[[F6]]
    // CHECK-NEXT: %[[F7:.*]] = llvm.getelementptr %[[RECORD]][28]{{.*}}, i8
    // CHECK-NEXT: llvm.store %[[ZERO]], %[[F7]]
    // CHECK-NOT: llvm.store
    // CHECK: return %[[R]]#0, %[[R]]#1
    %h = baton.handoffs scratch %s epoch %e slot %slot diag %d
    %w:2 = baton.poll %h [@sums] at (%i) words [2] : i32, i32
    return %w#0, %w#1 : i32, i32
  }

  // The word itself is what was seen. Two regions: the first missing word names its own.
  // CHECK-LABEL: func.func @sentinel
  // CHECK-SAME: %[[D:[a-z0-9]+]]: !llvm.ptr<1>, %[[I:[a-z0-9]+]]: i32, %[[J:[a-z0-9]+]]: i32)
  func.func @sentinel(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %d: !llvm.ptr<1>, %i: i32, %j: i32) -> i32
      attributes {baton.kernel} {
    // The ids: CRC-32 of "near", 0x764C1C11, and of "other", 0xD9583520, in 31 bits.
    // CHECK-DAG: %[[NEAR:.*]] = arith.constant 1984699409 : i32
    // CHECK-DAG: %[[OTHER:.*]] = arith.constant 1498952992 : i32
    // CHECK-DAG: %[[TICKS:.*]] = arith.constant 1000000000 : i64
    // CHECK-DAG: %[[SENTINEL:.*]] = arith.constant -1 : i32
    // CHECK: %[[LANE:.*]] = llvm.inline_asm asm_dialect = att "", "=v,0" %[[SENTINEL]]
    // CHECK: %[[END:.*]] = arith.addi %{{.*}}, %[[TICKS]] : i64
    // CHECK: %[[R:.*]]:5 = scf.while : () -> (i32, i1, i32, i32, i32) {
    // CHECK-NEXT: %[[W0:.*]] = baton.load %{{.*}} device : i32
    // CHECK-NEXT: %[[W1:.*]] = baton.load %{{.*}} device : i32
    // CHECK-NEXT: %[[M0:.*]] = arith.cmpi eq, %[[W0]], %[[LANE]] : i32
    // CHECK-NEXT: %[[M1:.*]] = arith.cmpi eq, %[[W1]], %[[LANE]] : i32
    // CHECK: %[[EARLY:.*]] = arith.cmpi slt, %{{.*}}, %[[END]] : i64
    // CHECK: %[[ANY:.*]] = arith.ori %[[M0]], %[[M1]] : i1
    // CHECK: %[[REGION:.*]] = arith.select %[[M0]], %[[NEAR]], %[[OTHER]] : i32
    // CHECK: %[[WHICH:.*]] = arith.select %[[M0]], %[[I]], %[[J]] : i32
    // CHECK: %[[SEEN:.*]] = arith.select %[[M0]], %[[W0]], %[[W1]] : i32
    // CHECK: scf.condition(%{{.*}}) %[[W1]], %[[ANY]], %[[REGION]], %[[WHICH]], %[[SEEN]] :
    // CHECK: scf.if %[[R]]#1 {
    // CHECK: llvm.cmpxchg
    // CHECK: llvm.store %[[R]]#2,
    // CHECK: llvm.store %[[R]]#3,
    // CHECK: llvm.store %[[R]]#4,
    // The re-arm follows whether the words came or not.
    // CHECK: baton.store %[[SENTINEL]], %{{.*}} device : i32
    // CHECK: baton.store %[[SENTINEL]], %{{.*}} device : i32
    // CHECK: return %[[R]]#0
    %h = baton.handoffs scratch %s epoch %e slot %i diag %d
    %w:2 = baton.poll_sent %h [@near, @other] at (%i, %j) rearm : i32, i32
    return %w#1 : i32
  }
  baton.region @other scratch sentinel bf16 shape [1, 2, 16]
}
