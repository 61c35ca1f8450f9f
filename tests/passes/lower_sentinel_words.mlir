// RUN: sed s/CHIP/gfx950/ %s | baton-opt -layout-regions -lower-handoffs -canonicalize | FileCheck %s
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -layout-regions -lower-handoffs -canonicalize | FileCheck %s
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -layout-regions -lower-handoffs -canonicalize | FileCheck %s

// Sentinel words through lower-handoffs: scratch at device scope, a peer's half at system scope.
module attributes {baton.chip = "CHIP", baton.workgroup = 512 : i64} {
  // CHECK-NOT: baton.region @
  baton.region @pad scratch tagged i32 shape [128]
  baton.region @ar peer tagged bf16 shape [8, 64]
  baton.region @near scratch sentinel bf16 shape [1, 2, 16]
  baton.region @far peer sentinel bf16 shape [8, 1, 64]

  // A sentinel word takes 4 bytes: near starts at byte 1024, far at byte 2048 of the half. A payload
  // 0xFFFFFFFF (-1) becomes 0xFFFEFFFE (-65538): its store may not leave the word unarrived.
  // CHECK-LABEL: func.func @puts_sentinel_words
  // CHECK-SAME: %[[RANK:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32, %[[V:[a-z0-9]+]]: vector<2xbf16>)
  func.func @puts_sentinel_words(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %rank: i32,
                                 %i: i32, %v: vector<2xbf16>) attributes {baton.kernel} {
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[C1024:.*]] = arith.constant 1024 : i32
    // CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : i32
    // CHECK-DAG: %[[SENTINEL:.*]] = arith.constant -1 : i32
    // CHECK-DAG: %[[PAYLOAD:.*]] = arith.constant -65538 : i32
    // CHECK-DAG: %[[ENTRY7:.*]] = arith.constant 56 : i32
    // CHECK: %[[SCRATCH:.*]] = baton.buffer %{{.*}} bytes 1280
    // CHECK: %[[BASE7:.*]] = baton.scalar_load %{{.*}}[%[[ENTRY7]]] : i64
    // CHECK: %[[HALF7:.*]] = arith.addi %[[BASE7]], %{{.*}} : i64
    // CHECK: %[[TO7:.*]] = baton.buffer %[[HALF7]] bytes 3072 : i64
    %h = baton.handoffs scratch %s epoch %e slot %i peers %p rank %rank
    %c7 = arith.constant 7 : i32
    // CHECK: %[[ONE:.*]] = vector.bitcast %[[V]] : vector<2xbf16> to vector<1xi32>
    // CHECK: %[[WORD:.*]] = vector.extract %[[ONE]][0]
    // CHECK: %[[COLLIDES:.*]] = arith.cmpi eq, %[[WORD]], %[[SENTINEL]] : i32
    // CHECK: %[[SENT:.*]] = arith.select %[[COLLIDES]], %[[PAYLOAD]], %[[WORD]] : i32
    // CHECK: %[[B:.*]] = arith.muli %[[I]], %[[C4]] : i32
    // CHECK: %[[O:.*]] = arith.addi %[[B]], %[[C1024]] : i32
    // CHECK: baton.store %[[SENT]], %[[SCRATCH]][%[[O]]] device : i32
    baton.put_sent %h @near[%i] = %v : vector<2xbf16>
    // A raw word is guarded too; the rank known at compile time has its buffer at the head.
    // CHECK-NOT: baton.scalar_load
    // CHECK: %[[COLLIDES2:.*]] = arith.cmpi eq, %[[I]], %[[SENTINEL]] : i32
    // CHECK: %[[SENT2:.*]] = arith.select %[[COLLIDES2]], %[[PAYLOAD]], %[[I]] : i32
    // CHECK: %[[B2:.*]] = arith.muli %[[I]], %[[C4]] : i32
    // CHECK: %[[O2:.*]] = arith.addi %[[B2]], %[[C2048]] : i32
    // CHECK: baton.store %[[SENT2]], %[[TO7]][%[[O2]]] system : i32
    baton.put_sent %h @far[%i] of %c7 = %i : i32
    // CHECK: baton.scalar_load
    // CHECK: %[[TO:.*]] = baton.buffer %{{.*}} bytes 3072 : i64
    // CHECK: baton.store %{{.*}}, %[[TO]][%{{.*}}] system : i32
    baton.put_sent %h @far[%i] of %rank = %i : i32
    return
  }

  // All words, then the comparisons; once more while any lane of the wave sees the sentinel. It is in
  // a vector register, as a tag is.
  // CHECK-LABEL: func.func @polls_sentinel_words
  // CHECK-SAME: %[[I:[a-z0-9]+]]: i32, %[[J:[a-z0-9]+]]: i32)
  func.func @polls_sentinel_words(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %i: i32, %j: i32)
      -> (i32, vector<2xbf16>) attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %i
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[C1024:.*]] = arith.constant 1024 : i32
    // CHECK-DAG: %[[SENTINEL:.*]] = arith.constant -1 : i32
    // CHECK: %[[BUFFER:.*]] = baton.buffer
    // CHECK: %[[BI:.*]] = arith.muli %[[I]], %[[C4]] : i32
    // CHECK: %[[OI:.*]] = arith.addi %[[BI]], %[[C1024]] : i32
    // CHECK: %[[BJ:.*]] = arith.muli %[[J]], %[[C4]] : i32
    // CHECK: %[[OJ:.*]] = arith.addi %[[BJ]], %[[C1024]] : i32
    // CHECK: %[[LANE:.*]] = llvm.inline_asm asm_dialect = att "", "=v,0" %[[SENTINEL]]
    // CHECK-NEXT: %[[R:.*]]:2 = scf.while : () -> (i32, i32) {
    // CHECK-NEXT: %[[W0:.*]] = baton.load %[[BUFFER]][%[[OI]]] device : i32
    // CHECK-NEXT: %[[W1:.*]] = baton.load %[[BUFFER]][%[[OJ]]] device : i32
    // CHECK-NEXT: %[[M0:.*]] = arith.cmpi eq, %[[W0]], %[[LANE]] : i32
    // CHECK-NEXT: %[[M1:.*]] = arith.cmpi eq, %[[W1]], %[[LANE]] : i32
    // CHECK-NEXT: %[[MISSING:.*]] = arith.ori %[[M0]], %[[M1]] : i1
    // CHECK-NEXT: llvm.fence syncscope("singlethread") acq_rel
    // CHECK-NEXT: %[[LANES:.*]] = rocdl.ballot %[[MISSING]] : i64
    // CHECK-NEXT: %[[AGAIN:.*]] = arith.cmpi ne, %[[LANES]], %{{.*}} : i64
    // CHECK-NEXT: scf.condition(%[[AGAIN]]) %[[W0]], %[[W1]] : i32, i32
    // CHECK-NEXT: } do {
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: rocdl.s.sleep 1
    // CHECK-NEXT: scf.yield
    // CHECK-NEXT: }
    // No store: the words are re-armed later, or by nobody.
    // CHECK-NEXT: %[[ONE:.*]] = vector.broadcast %[[R]]#1 : i32 to vector<1xi32>
    // CHECK-NEXT: %[[V:.*]] = vector.bitcast %[[ONE]] : vector<1xi32> to vector<2xbf16>
    // CHECK-NEXT: return %[[R]]#0, %[[V]]
    %w:2 = baton.poll_sent %h [@near, @near] at (%i, %j) : i32, vector<2xbf16>
    return %w#0, %w#1 : i32, vector<2xbf16>
  }

  // Behind the loop, at once: every word of the batch, in this rank's own half. Later: the one word.
  // CHECK-LABEL: func.func @rearms
  // CHECK-SAME: %[[RANK:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32, %[[J:[a-z0-9]+]]: i32)
  func.func @rearms(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %rank: i32, %i: i32,
                    %j: i32) -> i32 attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %i peers %p rank %rank
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[C1024:.*]] = arith.constant 1024 : i32
    // CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : i32
    // CHECK-DAG: %[[SENTINEL:.*]] = arith.constant -1 : i32
    // CHECK: %[[SCRATCH:.*]] = baton.buffer %{{.*}} bytes 1280
    // CHECK: %[[ENTRY:.*]] = arith.shli %[[RANK]], %{{.*}} : i32
    // CHECK: baton.scalar_load %{{.*}}[%[[ENTRY]]] : i64
    // CHECK: %[[LOCAL:.*]] = baton.buffer %{{.*}} bytes 3072 : i64
    // CHECK: %[[R:.*]] = scf.while
    // CHECK: baton.load %[[LOCAL]][%{{.*}}] system : i32
    // CHECK: baton.load %[[LOCAL]][%{{.*}}] system : i32
    // CHECK-NOT: baton.store
    // CHECK: scf.yield
    // CHECK-NEXT: }
    // CHECK-NEXT: %[[BI:.*]] = arith.muli %[[I]], %[[C4]] : i32
    // CHECK-NEXT: %[[OI:.*]] = arith.addi %[[BI]], %[[C2048]] : i32
    // CHECK-NEXT: baton.store %[[SENTINEL]], %[[LOCAL]][%[[OI]]] system : i32
    // CHECK-NEXT: %[[BJ:.*]] = arith.muli %[[J]], %[[C4]] : i32
    // CHECK-NEXT: %[[OJ:.*]] = arith.addi %[[BJ]], %[[C2048]] : i32
    // CHECK-NEXT: baton.store %[[SENTINEL]], %[[LOCAL]][%[[OJ]]] system : i32
    %w:2 = baton.poll_sent %h [@far, @far] at (%i, %j) rearm : i32, i32
    // CHECK-NEXT: %[[B:.*]] = arith.muli %[[I]], %[[C4]] : i32
    // CHECK-NEXT: %[[O:.*]] = arith.addi %[[B]], %[[C1024]] : i32
    // CHECK-NEXT: baton.store %[[SENTINEL]], %[[SCRATCH]][%[[O]]] device : i32
    // CHECK-NEXT: return %[[R]]
    baton.rearm %h @near[%i]
    return %w#1 : i32
  }
}
