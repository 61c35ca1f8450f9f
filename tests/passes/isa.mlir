// What must hold in the instructions, behind LLVM's optimiser and scheduler.
// RUN: sed s/CHIP/gfx950/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 -S | llc -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 | FileCheck %s --check-prefixes=CHECK,GFX950 -DDEVICE=sc1 -DSYSTEM="sc0 sc1" -DSTREAM=nt
// RUN: sed s/CHIP/gfx942/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 -S | llc -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 | FileCheck %s --check-prefixes=CHECK,GFX942 -DDEVICE=sc1 -DSYSTEM="sc0 sc1" -DSTREAM=nt
// RUN: sed s/CHIP/gfx90a/ %s | baton-opt -baton-pipeline | mlir-translate --mlir-to-llvmir | opt -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx90a -S | llc -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx90a | FileCheck %s --check-prefixes=CHECK,GFX90A -DDEVICE=glc -DSYSTEM="glc slc" -DSTREAM=slc

module attributes {baton.chip = "CHIP", baton.workgroup = 512 : i64, baton.grid = 2 : i64} {
  baton.region @sums scratch tagged f32 shape [1024]
  baton.region @flag scratch tagged i32 shape [4]
  baton.region @ar peer tagged bf16 shape [8, 1024]
  baton.lds @rows offset 0 bytes 1024

  // Every try loads the whole batch again, sleeps, and goes on while any lane is stale; what is loaded
  // behind the poll is loaded behind the loop.
  // CHECK-LABEL: {{^}}poll_lanes:
  // CHECK-NOT: buffer_load
  // CHECK: {{^}}[[AGAIN:.LBB[0-9_]+]]: {{.*}}in Loop
  // CHECK: s_sleep 1
  // CHECK: Loop Header
  // CHECK-DAG: buffer_load_dwordx4 {{.*}} 0 offen [[DEVICE]]{{$}}
  // CHECK-DAG: buffer_load_dwordx2 {{.*}} 0 offen [[DEVICE]]{{$}}
  // CHECK-DAG: v_cmp_ne_u32
  // CHECK-DAG: v_cmp_ne_u32
  // CHECK-DAG: v_cmp_ne_u32
  // CHECK: s_cbranch_vccnz [[AGAIN]]
  // CHECK: buffer_load_dword v{{.*}} 0 offen [[DEVICE]]{{$}}
  // CHECK-NOT: buffer_load
  // CHECK: s_endpgm
  func.func @poll_lanes(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %out: !llvm.ptr<1>, %slot: i32)
      attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %t = baton.thread_id below 512
    %c2 = arith.constant 2 : i32
    %even = arith.muli %t, %c2 : i32
    baton.put %h @sums[%slot] raw = %slot : i32
    %v:3 = baton.poll %h [@sums, @sums] at (%even, %t) words [2, 1] : i32, i32, i32
    %row = baton.load %rows[%even] device : i32
    %a = arith.addi %v#0, %v#1 : i32
    %b = arith.addi %v#2, %row : i32
    %sum = arith.addi %a, %b : i32
    baton.store %sum, %rows[%even] wave : i32
    return
  }

  // All lanes poll one word: still each lane's own comparison, the loop goes on while any is stale.
  // CHECK-LABEL: {{^}}poll_one:
  // CHECK-NOT: buffer_load
  // CHECK: {{^}}[[AGAIN:.LBB[0-9_]+]]: {{.*}}in Loop
  // CHECK: s_sleep 1
  // CHECK: Loop Header
  // CHECK: buffer_load_dwordx2 {{.*}} [[DEVICE]]{{$}}
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NEXT: v_cmp_ne_u32_e32 vcc, v
  // CHECK-NEXT: s_cbranch_vccnz [[AGAIN]]
  // CHECK-NOT: buffer_load
  // CHECK: s_endpgm
  func.func @poll_one(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %out: !llvm.ptr<1>, %slot: i32)
      attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %c1 = arith.constant 1 : i32
    %v = baton.poll %h [@flag] at (%c1) words [1] : i32
    baton.store %v, %rows[%slot] wave : i32
    return
  }

  // The rows are complete before the barrier, the flag is put behind it.
  // CHECK-LABEL: {{^}}publishes:
  // CHECK: buffer_store_dwordx4 {{.*}} [[DEVICE]]
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: buffer_
  // CHECK: s_barrier
  // CHECK-NOT: buffer_load
  // CHECK: buffer_store_dwordx2 {{.*}} [[DEVICE]]
  // CHECK: s_endpgm
  func.func @publishes(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %out: !llvm.ptr<1>, %slot: i32,
                       %row: vector<4xi32>) attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %t = baton.thread_id below 512
    %c16 = arith.constant 16 : i32
    %c1 = arith.constant 1 : i32
    %byte = arith.muli %t, %c16 : i32
    baton.store %row, %rows[%byte] device : vector<4xi32>
    baton.publish %h @flag[%c1]
    return
  }

  // A word and its tag leave by one store; two of them too.
  // CHECK-LABEL: {{^}}puts:
  // CHECK-DAG: buffer_store_dwordx2 {{.*}} [[SYSTEM]]{{$}}
  // CHECK-DAG: buffer_store_dwordx4 {{.*}} [[SYSTEM]]{{$}}
  // CHECK-NOT: buffer_store
  // CHECK: s_endpgm
  func.func @puts(%s: !llvm.ptr<1>, %e: !llvm.ptr<1>, %p: !llvm.ptr<1>, %slot: i32, %rank: i32)
      attributes {baton.kernel} {
    %h = baton.handoffs scratch %s epoch %e slot %slot peers %p rank %rank
    %t = baton.thread_id below 512
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %even = arith.muli %t, %c2 : i32
    baton.put %h @ar[%t] of %c1 raw = %slot : i32
    baton.put %h @ar[%even] of %rank raw = %slot, %slot : i32, i32
    %w = baton.poll %h [@ar] at (%t) words [1] : i32
    return
  }

  // Lanes meet without LDS where the chip can: DPP below 16, swaps at 16 and 32.
  // CHECK-LABEL: {{^}}butterfly:
  // GFX950-NOT: ds_
  // GFX950: v_permlane32_swap_b32
  // GFX950: v_permlane16_swap_b32
  // GFX942: ds_bpermute_b32
  // GFX942: ds_swizzle_b32 {{.*}} offset:swizzle(SWAP,16)
  // GFX90A: ds_bpermute_b32
  // GFX90A: ds_swizzle_b32 {{.*}} offset:swizzle(SWAP,16)
  // CHECK-NOT: ds_
  // CHECK: row_ror:8
  // CHECK: row_half_mirror
  // CHECK: quad_perm:[3,2,1,0]
  // CHECK: quad_perm:[2,3,0,1]
  // CHECK: quad_perm:[1,0,3,2]
  // CHECK-NOT: ds_
  // CHECK: s_endpgm
  func.func @butterfly(%out: !llvm.ptr<1>) attributes {baton.kernel} {
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %t = baton.thread_id below 512
    %c2 = arith.constant 2 : i32
    %byte = arith.shli %t, %c2 : i32
    %x = baton.load %rows[%byte] wave : i32
    %sum = baton.butterfly %x offsets [32, 16, 8, 4, 2, 1] : i32 {
    ^bb0(%a: i32, %b: i32):
      %m = arith.maxsi %a, %b : i32
      baton.yield %m : i32
    }
    baton.store %sum, %rows[%byte] wave : i32
    return
  }

  // Streamed weights into the chip's MFMA.
  // CHECK-LABEL: {{^}}matrix:
  // CHECK: buffer_load_dwordx4 {{.*}} 0 offen [[STREAM]]{{$}}
  // GFX950: v_mfma_f32_16x16x32_bf16
  // GFX942: v_mfma_f32_16x16x16_bf16
  // GFX942: v_mfma_f32_16x16x16_bf16
  // GFX90A: v_mfma_f32_16x16x16bf16_1k
  // GFX90A: v_mfma_f32_16x16x16bf16_1k
  // CHECK-NOT: v_mfma
  // CHECK: s_endpgm
  func.func @matrix(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {baton.kernel} {
    %weights = baton.buffer %in bytes 65536 : !llvm.ptr<1>
    %rows = baton.buffer %out bytes 65536 : !llvm.ptr<1>
    %t = baton.thread_id below 512
    %c4 = arith.constant 4 : i32
    %byte = arith.shli %t, %c4 : i32
    %w = baton.load %weights[%byte] wave streaming : vector<4xi32>
    %a = vector.bitcast %w : vector<4xi32> to vector<8xbf16>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %d = baton.mfma %a, %a, %zero : vector<8xbf16>, vector<4xf32>
    %bits = vector.bitcast %d : vector<4xf32> to vector<4xi32>
    baton.store %bits, %rows[%byte] wave : vector<4xi32>
    return
  }
}
