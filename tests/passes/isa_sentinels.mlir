// What must hold of sentinel words, bounded waits and stamps in the instructions, behind LLVM's
// optimiser and scheduler.
// RUN: sed s/CHIP/gfx950/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 -S | llc -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 | FileCheck %s -DDEVICE=sc1 -DSYSTEM="sc0 sc1"
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 -S | llc -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 | FileCheck %s -DDEVICE=sc1 -DSYSTEM="sc0 sc1"
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx90a -S | llc -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx90a | FileCheck %s -DDEVICE=glc -DSYSTEM="glc slc"

module attributes {baton.chip = "CHIP", baton.workgroup = 512 : i64, baton.grid = 2 : i64} {
  baton.region @near scratch sentinel bf16 shape [1, 64, 16]
  baton.region @far peer sentinel bf16 shape [8, 1, 1024]
  baton.region @flag scratch tagged i32 shape [4]

  // Every try loads the whole batch again, sleeps, and goes on while any lane sees the sentinel; what
  // is loaded behind the poll is loaded behind the loop.
  // CHECK-LABEL: {{^}}poll_lanes:
  // CHECK-NOT: buffer_load
  // CHECK: {{^}}[[AGAIN:.LBB[0-9_]+]]: {{.*}}in Loop
  // CHECK: s_sleep 1
  // CHECK: Loop Header
  // CHECK: buffer_load_dword v{{[0-9]+}}, {{.*}} 0 offen [[SYSTEM]]{{$}}
  // CHECK: buffer_load_dword v{{[0-9]+}}, {{.*}} 0 offen [[SYSTEM]]{{$}}
  // CHECK-NOT: buffer_
  // CHECK-DAG: v_cmp_eq_u32
  // CHECK-DAG: v_cmp_eq_u32
  // CHECK: s_cbranch_vccnz [[AGAIN]]
  // CHECK: buffer_load_dword v{{.*}} 0 offen [[DEVICE]]{{$}}
  // CHECK-NOT: buffer_load
  // CHECK: s_endpgm
  func.func @poll_lanes(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %out: !llvm.ptr<1>,
                        %rank: i32) attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %rank peers %p rank %rank
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %t = baton.thread_id below 512
    %c2 = arith.constant 2 : i32
    %even = arith.muli %t, %c2 : i32
    baton.put_sent %h @far[%t] of %rank = %rank : i32
    %v:2 = baton.poll_sent %h [@far, @far] at (%even, %t) rearm : i32, i32
    %row = baton.load %rows[%even] device : i32
    %a = arith.addi %v#0, %v#1 : i32
    %sum = arith.addi %a, %row : i32
    baton.store %sum, %rows[%even] wave : i32
    return
  }

  // All lanes poll one word: still each lane's own comparison.
  // CHECK-LABEL: {{^}}poll_one:
  // CHECK-NOT: buffer_load
  // CHECK: {{^}}[[AGAIN:.LBB[0-9_]+]]: {{.*}}in Loop
  // CHECK: s_sleep 1
  // CHECK: Loop Header
  // CHECK: buffer_load_dword v{{.*}} [[DEVICE]]{{$}}
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NEXT: v_cmp_eq_u32_e32 vcc, {{.*}}v
  // CHECK-NEXT: s_cbranch_vccnz [[AGAIN]]
  // CHECK-NOT: buffer_load
  // CHECK: s_endpgm
  func.func @poll_one(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %out: !llvm.ptr<1>, %slot: i32)
      attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %c1 = arith.constant 1 : i32
    baton.put_sent %h @near[%slot] = %slot : i32
    %v = baton.poll_sent %h [@near] at (%c1) : i32
    baton.store %v, %rows[%slot] wave : i32
    baton.rearm %h @near[%c1]
    return
  }

  // A put is the guard and one plain store of one word, at the space's scope; so is a re-arm.
  // CHECK-LABEL: {{^}}puts:
  // CHECK-NOT: buffer_
  // CHECK: v_cmp_ne_u32{{.*}} -1, v
  // CHECK: v_cndmask_b32
  // CHECK: buffer_store_dword v{{.*}} 0 offen [[SYSTEM]]{{$}}
  // CHECK-NOT: buffer_
  // CHECK: s_endpgm
  func.func @puts(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %rank: i32)
      attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %rank peers %p rank %rank
    %t = baton.thread_id below 512
    %c3 = arith.constant 3 : i32
    %word = arith.subi %t, %c3 : i32
    baton.put_sent %h @far[%t] of %c3 = %word : i32
    return
  }

  // CHECK-LABEL: {{^}}puts_near:
  // CHECK-NOT: buffer_
  // CHECK: buffer_store_dword v{{.*}} 0 offen [[DEVICE]]{{$}}
  // CHECK-NOT: buffer_
  // CHECK: s_endpgm
  func.func @puts_near(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %slot: i32) attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot
    %t = baton.thread_id below 512
    baton.put_sent %h @near[%t] = %slot : i32
    return
  }

  // The words are in hand before they are re-armed.
  // CHECK-LABEL: {{^}}rearms:
  // CHECK: buffer_load_dword v{{.*}} 0 offen [[SYSTEM]]{{$}}
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK: s_cbranch_vccnz
  // CHECK: buffer_store_dword v{{.*}} 0 offen [[SYSTEM]]{{$}}
  // CHECK: s_endpgm
  func.func @rearms(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %out: !llvm.ptr<1>,
                    %rank: i32) attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %rank peers %p rank %rank
    %t = baton.thread_id below 512
    baton.put_sent %h @far[%rank] of %rank = %rank : i32
    %v = baton.poll_sent %h [@far] at (%t) rearm : i32
    return
  }

  // A bounded wait reads the clock once before its loop and once a turn, beside the load; the record
  // is won by one compare-and-swap.
  // CHECK-LABEL: {{^}}bounded:
  // CHECK: s_memrealtime
  // CHECK: Loop Header
  // CHECK-DAG: buffer_load_dwordx2 v{{.*}} [[DEVICE]]{{$}}
  // CHECK-DAG: s_memrealtime
  // CHECK-NOT: global_
  // CHECK: s_cbranch
  // CHECK: global_atomic_cmpswap
  // CHECK: s_memrealtime
  // CHECK: global_store_dword
  // CHECK: s_endpgm
  func.func @bounded(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %d: !llvm.ptr<1>, %out: !llvm.ptr<1>,
                     %slot: i32) attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot diag %d
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %c1 = arith.constant 1 : i32
    baton.publish %h @flag[%c1]
    %v = baton.poll %h [@flag] at (%c1) words [1] : i32
    baton.store %v, %rows[%slot] wave : i32
    return
  }

  // Stamps enclose what the stage does.
  // CHECK-LABEL: {{^}}stamped:
  // CHECK: s_memrealtime
  // CHECK: buffer_load_dword
  // CHECK: s_memrealtime
  // CHECK-NOT: s_memrealtime
  // CHECK: ds_read
  // CHECK: buffer_store_dwordx4
  // CHECK: s_endpgm
  func.func @stamped(%tl: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {baton.kernel} {
    baton.timeline %tl
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %t = baton.thread_id below 512
    baton.stage "copy" {
      %row = baton.load %rows[%t] device : i32
      baton.store %row, %rows[%t] device : i32
      baton.yield
    }
    return
  }
}
