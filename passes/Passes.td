// Every pass: one file, one stem. Sorted by name; passes/pipeline.cpp holds the order.
#ifndef BATON_PASSES
#define BATON_PASSES

include "mlir/Pass/PassBase.td"

def CheckHandoffs : Pass<"check-handoffs", "mlir::ModuleOp"> {
  let summary = "Refuse hand-offs that hang or run out of their region";
  let description = [{
    Errors: a polled region that nothing puts; an index or a rank that is out of bounds on every
    lane that could compute it; a batch over two spaces; a region that is put, polled or re-armed
    under another protocol than its own. Remarks: a poll that waits behind weight loads in flight; a
    region that is never polled.
    ```mlir
    baton.region @ar peer tagged f32 shape [8]
    ...
    // error: stage 'reduce': polls region 'ar', which nothing puts
    %v = baton.poll %h [@ar] at (%i) words [1] : f32
    ```
  }];
}

def CheckLds : Pass<"check-lds", "mlir::ModuleOp"> {
  let summary = "Refuse more LDS than the target has, and LDS accesses out of their range";
  let description = [{
    ```mlir
    baton.lds @rows offset 0 bytes 70000   // gfx942: error: LDS takes 70000 bytes, gfx942 has 65536
    ```
  }];
}

def CheckSentinels : Pass<"check-sentinels", "mlir::ModuleOp"> {
  let summary = "Refuse sentinel words that are put twice, or never re-armed by their reader";
  let description = [{
    Errors: a word that one lane puts twice, also by a loop, with no re-arm between; a poll behind
    which no path reaches a re-arm of its word; a re-arm that no path reaches, or that no poll
    precedes. Words are compared as far as their rank and index can be proven equal.
    ```mlir
    baton.put_sent %h @ar[%i] of %rank = %v : i32
    // error: stage 'o': puts a word of sentinel region 'ar' a second time before its re-arm
    baton.put_sent %h @ar[%i] of %rank = %w : i32
    ```
  }];
}

def LayoutRegions : Pass<"layout-regions", "mlir::ModuleOp"> {
  let summary = "Give every region its byte offset in its space";
  let description = [{
    In order of declaration, each at a multiple of 256 bytes. Records the regions and the totals as
    module attributes.
    ```mlir
    baton.region @wgt scratch tagged f32 shape [8, 9]
    // becomes
    baton.region @wgt scratch tagged f32 shape [8, 9] offset 32256
    ```
  }];
}

def LowerHandoffs : Pass<"lower-handoffs", "mlir::ModuleOp"> {
  let summary = "Hand-offs to scoped loads, stores and spin loops";
  let description = [{
    ```mlir
    baton.put %h @msq[%i] = %v : f32
    // becomes
    %w = arith.bitcast %v : f32 to i32
    %pair = vector.from_elements %w, %tag : vector<2xi32>
    baton.store %pair, %scratch[%byte] device : vector<2xi32>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect", "mlir::ROCDL::ROCDLDialect",
                           "mlir::LLVM::LLVMDialect"];
}

def LowerKernel : Pass<"lower-kernel", "mlir::ModuleOp"> {
  let summary = "The kernel's function, its ids and its barriers to rocdl";
  let description = [{
    ```mlir
    %t = baton.thread_id below 512
    // becomes
    %t = rocdl.workitem.id.x range <i32, 0, 512> : i32
    ```
  }];
  let dependentDialects = ["mlir::ROCDL::ROCDLDialect", "mlir::LLVM::LLVMDialect"];
}

def LowerLanes : Pass<"lower-lanes", "mlir::ModuleOp"> {
  let summary = "Butterflies and scans to DPP, permlane swaps, swizzles and bpermute";
  let description = [{
    lane ^ 1, 2: DPP quad_perm; 4: DPP row_half_mirror and quad_perm; 8: DPP row_ror; 16, 32:
    permlane swaps where the target has them, else ds_swizzle and ds_bpermute.
    ```mlir
    %s = baton.butterfly %v offsets [8] : i32 { ^bb0(%a: i32, %b: i32): ... }
    // becomes
    %o = rocdl.update.dpp %u, %v with 296, 15, 15, true : i32   // row_ror:8
    %s = arith.addi %v, %o : i32
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::ROCDL::ROCDLDialect",
                           "mlir::LLVM::LLVMDialect"];
}

def LowerMatrix : Pass<"lower-matrix", "mlir::ModuleOp"> {
  let summary = "16x16x32 steps to the target's MFMA";
  let description = [{
    ```mlir
    %d = baton.mfma %a, %b, %c : vector<8xbf16>, vector<4xf32>
    // becomes, on gfx950
    %d = rocdl.mfma.f32.16x16x32.bf16 %a, %b, %c, 0, 0, 0
    ```
  }];
  let dependentDialects = ["mlir::vector::VectorDialect", "mlir::ROCDL::ROCDLDialect",
                           "mlir::arith::ArithDialect"];
}

def LowerMemory : Pass<"lower-memory", "mlir::ModuleOp"> {
  let summary = "Scoped memory and LDS to raw buffer ops with policy bits, and to LDS pointers";
  let description = [{
    ```mlir
    %w = baton.load %b[%o] device streaming : vector<4xi32>
    // becomes, on gfx950 (sc1 | nt)
    %w = rocdl.raw.ptr.buffer.load %rsrc, %o, %zero, %c18 : vector<4xi32>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::ROCDL::ROCDLDialect",
                           "mlir::LLVM::LLVMDialect"];
}

def LowerStages : Pass<"lower-stages", "mlir::ModuleOp"> {
  let summary = "Stages to inlined scopes of the debug information";
  let description = [{
    The body moves to where the stage stood. Its locations become lines of a subprogram "stage
    NAME", inlined into the kernel; a hand-off is one more inlined subprogram, "put REGION" or "poll
    REGION", within it. So any reader of DWARF can tell an instruction's stage and hand-off.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def RereadArguments : Pass<"reread-arguments", "mlir::ModuleOp"> {
  let summary = "Arguments behind baton.reread_arguments from the kernarg segment";
  let description = [{
    ```mlir
    baton.reread_arguments
    baton.stage "conv" { ... %address ... }
    // becomes
    %segment = llvm.call_intrinsic "llvm.amdgcn.kernarg.segment.ptr"()
    %again = llvm.load %segment[24] invariant
    baton.stage "conv" { ... %again ... }
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def SinkBuffers : Pass<"sink-buffers", "mlir::ModuleOp"> {
  let summary = "Buffer resources from the kernel's head into the stages that use them";
  let description = [{
    A resource takes four SGPRs for as long as it lives, its address two: each stage builds those
    that it uses. So only where SGPRs are scarce, in a kernel that has a baton.reread_arguments;
    elsewhere a resource is built once.
    ```mlir
    %b = baton.buffer %address bytes 64 : !llvm.ptr<1>
    baton.stage "o" { ... %b ... }
    baton.reread_arguments
    // becomes
    baton.stage "o" {
      %b = baton.buffer %address bytes 64 : !llvm.ptr<1>
      ...
    }
    ```
  }];
}

def StampStages : Pass<"stamp-stages", "mlir::ModuleOp"> {
  let summary = "A timeline's time stamps at every stage boundary";
  let description = [{
    Lane 0 keeps the 100 MHz clock in LDS as it enters and leaves a stage, and stores all stamps at
    the kernel's end. The names go to the manifest `baton.timeline`, one a stage op.
    ```mlir
    baton.timeline %tl
    baton.stage "gate" { ... }
    // becomes
    baton.stage "gate" {
      scf.if %is_lane_0 { baton.lds_store %clock, @timeline_stamps[%c0] : i64 }
      ...
      scf.if %is_lane_0 { baton.lds_store %clock, @timeline_stamps[%c8] : i64 }
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::LLVM::LLVMDialect"];
}

#endif  // BATON_PASSES
