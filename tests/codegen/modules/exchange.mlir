// Two stages and three hand-offs, written as the lowering leaves them: the kernel loads a word,
// multiplies, puts it to a peer and polls for the answer.
#file = #llvm.di_file<"kernels/exchange.cpp" in "">
#parts = #llvm.di_file<"kernels/parts/wait.cpp" in "">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C_plus_plus_14, file = #file, producer = "baton", isOptimized = true, emissionKind = Full>
#type = #llvm.di_subroutine_type<>
#kernel = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "exchange", file = #file, line = 1, scopeLine = 1, subprogramFlags = "Definition|Optimized", type = #type>
#stage_o = #llvm.di_subprogram<id = distinct[2]<>, compileUnit = #unit, scope = #file, name = "stage o", file = #file, line = 2, scopeLine = 2, subprogramFlags = "Definition|Optimized", type = #type>
#stage_reduce = #llvm.di_subprogram<id = distinct[3]<>, compileUnit = #unit, scope = #file, name = "stage reduce", file = #file, line = 6, scopeLine = 6, subprogramFlags = "Definition|Optimized", type = #type>
#put_ar = #llvm.di_subprogram<id = distinct[4]<>, compileUnit = #unit, scope = #file, name = "put ar", file = #file, line = 4, scopeLine = 4, subprogramFlags = "Definition|Optimized", type = #type>
#poll_ar = #llvm.di_subprogram<id = distinct[5]<>, compileUnit = #unit, scope = #parts, name = "poll ar", file = #parts, line = 2, scopeLine = 2, subprogramFlags = "Definition|Optimized", type = #type>

#in_kernel = loc(fused<#kernel>["kernels/exchange.cpp":1:1])
#at_stage_o = loc(fused<#kernel>["kernels/exchange.cpp":2:3])
#at_stage_reduce = loc(fused<#kernel>["kernels/exchange.cpp":6:3])
#load = loc(callsite(fused<#stage_o>["kernels/exchange.cpp":3:5] at #at_stage_o))
#put_site = loc(callsite(fused<#stage_o>["kernels/exchange.cpp":4:5] at #at_stage_o))
#put = loc(callsite(fused<#put_ar>["kernels/exchange.cpp":4:5] at #put_site))
#poll_site = loc(callsite(fused<#stage_reduce>["kernels/exchange.cpp":7:5] at #at_stage_reduce))
#poll = loc(callsite(fused<#poll_ar>["kernels/parts/wait.cpp":2:3] at #poll_site))
#store = loc(callsite(fused<#stage_reduce>["kernels/exchange.cpp":8:5] at #at_stage_reduce))

module attributes {
  baton.chip = "gfx950", baton.key = "exchange:tokens=1", baton.stages = ["o", "reduce"],
  baton.args = [
    {name = "in", kind = "buffer", access = "read", dtype = "i32", shape = array<i64: 512>},
    {name = "out", kind = "buffer", access = "write", dtype = "i32", shape = array<i64: 512>},
    {name = "peer", kind = "i64"}, {name = "rank", kind = "i32"}],
  baton.regions = [{name = "ar", space = "peer", protocol = "tagged", dtype = "i32",
                    shape = array<i64: 512>, offset = 0 : i64, bytes = 4096 : i64}],
  baton.scratch_bytes = 0 : i64, baton.peer_half_bytes = 4096 : i64,
  baton.grid = 256 : i64, baton.workgroup = 512 : i64
} {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<512 x i32>

  llvm.func @exchange(%in: !llvm.ptr<1> {llvm.noalias}, %out: !llvm.ptr<1> {llvm.noalias}, %peer: i64, %rank: i32) attributes {rocdl.kernel} {
    %lane = rocdl.workitem.id.x : i32 loc(#in_kernel)
    %from = llvm.getelementptr %in[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32 loc(#load)
    %word = llvm.load %from : !llvm.ptr<1> -> i32 loc(#load)
    %product = llvm.mul %word, %rank : i32 loc(#load)
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3> loc(#load)
    %slot = llvm.getelementptr %lds[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32 loc(#load)
    llvm.store %product, %slot : i32, !llvm.ptr<3> loc(#load)
    %base = llvm.inttoptr %peer : i64 to !llvm.ptr<1> loc(#put)
    %to = llvm.getelementptr %base[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64 loc(#put)
    %wide = llvm.zext %product : i32 to i64 loc(#put)
    llvm.store %wide, %to atomic syncscope("") monotonic {alignment = 8 : i64} : i64, !llvm.ptr<1> loc(#put)
    llvm.br ^spin loc(#poll)
  ^spin:
    %seen = llvm.load %to atomic syncscope("") monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64 loc(#poll)
    %zero = llvm.mlir.constant(0 : i64) : i64 loc(#poll)
    %unset = llvm.icmp "eq" %seen, %zero : i64 loc(#poll)
    llvm.cond_br %unset, ^spin, ^done loc(#poll)
  ^done:
    rocdl.s.barrier loc(#store)
    %one = llvm.mlir.constant(1 : i32) : i32 loc(#store)
    %other = llvm.xor %lane, %one : i32 loc(#store)
    %their_slot = llvm.getelementptr %lds[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32 loc(#store)
    %theirs = llvm.load %their_slot : !llvm.ptr<3> -> i32 loc(#store)
    %answer = llvm.trunc %seen : i64 to i32 loc(#store)
    %sum = llvm.add %answer, %theirs : i32 loc(#store)
    %target = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32 loc(#store)
    llvm.store %sum, %target : i32, !llvm.ptr<1> loc(#store)
    llvm.return loc(#in_kernel)
  } loc(#in_kernel)
} loc(#in_kernel)
