// RUN: sed s/CHIP/gfx950/ %s | baton-opt -layout-regions -lower-handoffs -canonicalize | FileCheck %s
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -layout-regions -lower-handoffs -canonicalize | FileCheck %s
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -layout-regions -lower-handoffs -canonicalize | FileCheck %s

// A word and its tag are adjacent, 8 bytes, written by one store: scratch at device scope, a peer's
// half at system scope.
module attributes {baton.chip = "CHIP", baton.workgroup = 512 : i64} {
  // CHECK-NOT: baton.region @
  baton.region @pad scratch tagged i32 shape [32]
  baton.region @sums scratch tagged f32 shape [8]
  baton.region @pairs scratch tagged bf16 shape [16]
  baton.region @flag scratch tagged i32 shape [4]
  baton.region @x scratch plain bf16 shape [4, 8]
  baton.region @ar peer tagged bf16 shape [8, 64]

  // tag = (epoch mod 2^22) * 256 + slot + 1; half = peers[rank] + (epoch mod 2) * bytes of a half.
  // CHECK-LABEL: func.func @open
  // CHECK-SAME: (%[[S:[a-z0-9]+]]: !llvm.ptr<1>, %[[E:[a-z0-9]+]]: !llvm.ptr<1>, %[[P:[a-z0-9]+]]: !llvm.ptr<1>, %[[SLOT:[a-z0-9]+]]: i32, %[[RANK:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32)
  func.func @open(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %slot: i32, %rank: i32,
                  %i: i32) -> i32 attributes {baton.kernel} {
    // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
    // CHECK-DAG: %[[MASK:.*]] = arith.constant 4194303 : i32
    // CHECK-DAG: %[[HALF:.*]] = arith.constant 2048 : i64
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK: %[[EPOCH:.*]] = baton.scalar_load %[[E]][%[[ZERO]]] : i32
    // CHECK: %[[TURN:.*]] = arith.andi %[[EPOCH]], %[[MASK]] : i32
    // CHECK: %[[HIGH:.*]] = arith.shli %[[TURN]], %[[C8]] : i32
    // CHECK: %[[LOW:.*]] = arith.addi %[[HIGH]], %[[SLOT]] : i32
    // CHECK: %[[TAG:.*]] = arith.addi %[[LOW]], %[[C1]] : i32
    // CHECK: %[[PARITY:.*]] = arith.andi %[[EPOCH]], %[[C1]] : i32
    // CHECK: %[[WIDE:.*]] = arith.extui %[[PARITY]] : i32 to i64
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[WIDE]], %[[HALF]] : i64
    // CHECK: %[[ENTRY:.*]] = arith.shli %[[RANK]], %[[C3]] : i32
    // CHECK: %[[BASE:.*]] = baton.scalar_load %[[P]][%[[ENTRY]]] : i64
    // CHECK: %[[MINE:.*]] = arith.addi %[[BASE]], %[[OFFSET]] : i64
    // CHECK: %[[LOCAL:.*]] = baton.buffer %[[MINE]] bytes 2048 : i64
    // CHECK: %[[BYTE:.*]] = arith.muli %[[I]], %[[C8]] : i32
    // CHECK: %[[LANE_TAG:.*]] = llvm.inline_asm asm_dialect = att "", "=v,0" %[[TAG]]
    // CHECK-NEXT: scf.while
    // CHECK: %[[PAIR:.*]] = baton.load %[[LOCAL]][%[[BYTE]]] system : vector<2xi32>
    // CHECK: %[[SEEN:.*]] = vector.extract %[[PAIR]][1]
    // CHECK: arith.cmpi ne, %[[SEEN]], %[[LANE_TAG]] : i32
    %h = baton.handoffs scratch %s epoch %e slot %slot peers %p rank %rank
    %w = baton.poll %h [@ar] at (%i) words [1] : i32
    return %w : i32
  }

  // The rows lie behind the regions declared before: 256, 256, 256 and 256 bytes.
  // CHECK-LABEL: func.func @rows
  // CHECK-SAME: (%[[S:[a-z0-9]+]]: !llvm.ptr<1>,
  func.func @rows(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %slot: i32, %i: i32) -> i32
      attributes {baton.kernel} {
    // CHECK: %[[ROWS:.*]] = llvm.getelementptr %[[S]][1024] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    // CHECK: %[[B:.*]] = baton.buffer %[[ROWS]] bytes 64 : !llvm.ptr<1>
    // CHECK: baton.load %[[B]]
    %h = baton.handoffs scratch %s epoch %e slot %slot
    %b = baton.rows %h @x
    %w = baton.load %b[%i] device : i32
    return %w : i32
  }

  // CHECK-LABEL: func.func @puts
  // CHECK-SAME: %[[I:[a-z0-9]+]]: i32, %[[F:[a-z0-9]+]]: f32, %[[V:[a-z0-9]+]]: vector<2xbf16>)
  func.func @puts(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %slot: i32, %i: i32, %f: f32,
                  %v: vector<2xbf16>) attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot
    // sums starts behind pad: 32 words of 8 bytes.
    // CHECK-DAG: %[[C256:.*]] = arith.constant 256 : i32
    // CHECK-DAG: %[[C512:.*]] = arith.constant 512 : i32
    // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
    // CHECK: %[[TAG:.*]] = arith.addi
    // CHECK: %[[TAG:.*]] = arith.addi
    // CHECK: %[[BUFFER:.*]] = baton.buffer %{{.*}} bytes 1280
    // CHECK: %[[W:.*]] = arith.bitcast %[[F]] : f32 to i32
    // CHECK: %[[PAIR:.*]] = vector.from_elements %[[W]], %[[TAG]] : vector<2xi32>
    // CHECK: %[[B:.*]] = arith.muli %[[I]], %[[C8]] : i32
    // CHECK: %[[O:.*]] = arith.addi %[[B]], %[[C256]] : i32
    // CHECK: baton.store %[[PAIR]], %[[BUFFER]][%[[O]]] device : vector<2xi32>
    baton.put %h @sums[%i] = %f : f32
    // Two words are one 16-byte store, each with its tag.
    // CHECK: %[[V0:.*]] = vector.bitcast %[[V]] : vector<2xbf16> to vector<1xi32>
    // CHECK: %[[W0:.*]] = vector.extract %[[V0]][0]
    // CHECK: %[[V1:.*]] = vector.bitcast %[[V]] : vector<2xbf16> to vector<1xi32>
    // CHECK: %[[W1:.*]] = vector.extract %[[V1]][0]
    // CHECK: %[[TWO:.*]] = vector.from_elements %[[W0]], %[[TAG]], %[[W1]], %[[TAG]] : vector<4xi32>
    // CHECK: %[[B2:.*]] = arith.muli %[[I]], %[[C8]] : i32
    // CHECK: %[[O2:.*]] = arith.addi %[[B2]], %[[C512]] : i32
    // CHECK: baton.store %[[TWO]], %[[BUFFER]][%[[O2]]] device : vector<4xi32>
    baton.put %h @pairs[%i] = %v, %v : vector<2xbf16>, vector<2xbf16>
    // A raw word is stored as it is.
    // CHECK: %[[RAW:.*]] = vector.from_elements %[[I]], %[[TAG]] : vector<2xi32>
    // CHECK: baton.store %[[RAW]], %[[BUFFER]][%{{.*}}] device : vector<2xi32>
    baton.put %h @sums[%i] raw = %i : i32
    return
  }

  // A rank known at compile time is looked up once, at the kernel's head; any other where it is put.
  // CHECK-LABEL: func.func @ranks
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr<1>, %[[RANK:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32)
  func.func @ranks(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %rank: i32, %i: i32)
      attributes {baton.kernel} {
    // CHECK-DAG: %[[ENTRY7:.*]] = arith.constant 56 : i32
    // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
    // CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
    // CHECK: %[[BASE7:.*]] = baton.scalar_load %[[P]][%[[ENTRY7]]] : i64
    // CHECK: %[[HALF7:.*]] = arith.addi %[[BASE7]], %[[OFFSET]] : i64
    // CHECK: %[[TO7:.*]] = baton.buffer %[[HALF7]] bytes 2048 : i64
    // CHECK-NOT: baton.scalar_load
    %h = baton.handoffs scratch %s epoch %e slot %i peers %p rank %rank
    %c7 = arith.constant 7 : i32
    // CHECK: baton.store %{{.*}}, %[[TO7]][%{{.*}}] system : vector<2xi32>
    // CHECK-NOT: baton.scalar_load
    // CHECK: baton.store %{{.*}}, %[[TO7]][%{{.*}}] system : vector<4xi32>
    baton.put %h @ar[%i] of %c7 raw = %i : i32
    baton.put %h @ar[%i] of %c7 raw = %i, %rank : i32, i32
    // CHECK: %[[OTHER:.*]] = arith.xori %[[RANK]], %[[I]] : i32
    // CHECK: %[[ENTRY:.*]] = arith.shli %[[OTHER]], %[[C3]] : i32
    // CHECK: %[[BASE:.*]] = baton.scalar_load %[[P]][%[[ENTRY]]] : i64
    // CHECK: %[[HALF:.*]] = arith.addi %[[BASE]], %[[OFFSET]] : i64
    // CHECK: %[[TO:.*]] = baton.buffer %[[HALF]] bytes 2048 : i64
    // CHECK: baton.store %{{.*}}, %[[TO]][%{{.*}}] system : vector<2xi32>
    %other = arith.xori %rank, %i : i32
    baton.put %h @ar[%i] of %other raw = %i : i32
    return
  }

  // All loads of a batch, then the tags; once more, behind a short sleep, while any lane of the wave
  // sees a stale one. The fence keeps the loads in the loop and later loads behind it. The tag is in a
  // vector register: lanes that load one address may still see different values.
  // CHECK-LABEL: func.func @polls
  func.func @polls(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %slot: i32, %i: i32)
      -> (f32, f32, vector<2xbf16>) attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot
    // CHECK: %[[TAG:.*]] = arith.addi
    // CHECK: %[[TAG:.*]] = arith.addi
    // CHECK: %[[BUFFER:.*]] = baton.buffer
    // CHECK: %[[LANE_TAG:.*]] = llvm.inline_asm asm_dialect = att "", "=v,0" %[[TAG]]
    // CHECK: %[[R:.*]]:3 = scf.while : () -> (i32, i32, i32) {
    // CHECK-NEXT: %[[P0:.*]] = baton.load %[[BUFFER]][%{{.*}}] device : vector<4xi32>
    // CHECK-NEXT: %[[P1:.*]] = baton.load %[[BUFFER]][%{{.*}}] device : vector<2xi32>
    // CHECK-NEXT: %[[W0:.*]] = vector.extract %[[P0]][0]
    // CHECK-NEXT: %[[T0:.*]] = vector.extract %[[P0]][1]
    // CHECK-NEXT: %[[D0:.*]] = arith.cmpi ne, %[[T0]], %[[LANE_TAG]] : i32
    // CHECK-NEXT: %[[W1:.*]] = vector.extract %[[P0]][2]
    // CHECK-NEXT: %[[T1:.*]] = vector.extract %[[P0]][3]
    // CHECK-NEXT: %[[D1:.*]] = arith.cmpi ne, %[[T1]], %[[LANE_TAG]] : i32
    // CHECK-NEXT: %[[W2:.*]] = vector.extract %[[P1]][0]
    // CHECK-NEXT: %[[T2:.*]] = vector.extract %[[P1]][1]
    // CHECK-NEXT: %[[D2:.*]] = arith.cmpi ne, %[[T2]], %[[LANE_TAG]] : i32
    // CHECK-NEXT: %[[D01:.*]] = arith.ori %[[D0]], %[[D1]] : i1
    // CHECK-NEXT: %[[STALE:.*]] = arith.ori %[[D01]], %[[D2]] : i1
    // CHECK-NEXT: llvm.fence syncscope("singlethread") acq_rel
    // CHECK-NEXT: %[[LANES:.*]] = rocdl.ballot %[[STALE]] : i64
    // CHECK-NEXT: %[[AGAIN:.*]] = arith.cmpi ne, %[[LANES]], %{{.*}} : i64
    // CHECK-NEXT: scf.condition(%[[AGAIN]]) %[[W0]], %[[W1]], %[[W2]] : i32, i32, i32
    // CHECK-NEXT: } do {
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: rocdl.s.sleep 1
    // CHECK-NEXT: scf.yield
    // CHECK: %[[F0:.*]] = arith.bitcast %[[R]]#0 : i32 to f32
    // CHECK: %[[F1:.*]] = arith.bitcast %[[R]]#1 : i32 to f32
    // CHECK: %[[ONE:.*]] = vector.broadcast %[[R]]#2 : i32 to vector<1xi32>
    // CHECK: %[[V:.*]] = vector.bitcast %[[ONE]] : vector<1xi32> to vector<2xbf16>
    // CHECK: return %[[F0]], %[[F1]], %[[V]]
    %w:3 = baton.poll %h [@sums, @pairs] at (%i, %slot) words [2, 1] : f32, f32, vector<2xbf16>
    return %w#0, %w#1, %w#2 : f32, f32, vector<2xbf16>
  }

  // The flag may not overtake the rows: vmcnt 0 of every lane, then the barrier, then lane 0's put.
  // s_waitcnt of gfx9: vmcnt in bits 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8; no limit is all ones:
  // 7 * 16 + 15 * 256 = 3952.
  // CHECK-LABEL: func.func @publishes
  // CHECK-SAME: %[[I:[a-z0-9]+]]: i32)
  func.func @publishes(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
    // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK-DAG: %[[C768:.*]] = arith.constant 768 : i32
    // CHECK: %[[TAG:.*]] = arith.addi
    // CHECK: %[[TAG:.*]] = arith.addi
    // CHECK: %[[BUFFER:.*]] = baton.buffer
    // CHECK: llvm.fence syncscope("singlethread") acq_rel
    // CHECK-NEXT: rocdl.s.waitcnt 3952
    // CHECK-NEXT: baton.barrier
    // CHECK-NEXT: %[[T:.*]] = baton.thread_id below 512
    // CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[T]], %[[ZERO]] : i32
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK-NEXT: %[[PAIR:.*]] = vector.from_elements %[[C1]], %[[TAG]] : vector<2xi32>
    // CHECK-NEXT: %[[B:.*]] = arith.muli %[[I]], %{{.*}} : i32
    // CHECK-NEXT: %[[O:.*]] = arith.addi %[[B]], %[[C768]] : i32
    // CHECK-NEXT: baton.store %[[PAIR]], %[[BUFFER]][%[[O]]] device : vector<2xi32>
    // CHECK-NEXT: }
    %h = baton.handoffs scratch %s epoch %e slot %i
    baton.publish %h @flag[%i]
    return
  }
}
