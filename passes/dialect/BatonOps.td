// The ops of the baton dialect. Each has a verifier; tests/passes/invalid.mlir shows every message.
#ifndef BATON_OPS
#define BATON_OPS

include "BatonDialect.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Baton_Op<string mnemonic, list<Trait> traits = []> : Op<Baton_Dialect, mnemonic, traits>;

def Baton_Word : AnyTypeOf<[I32, F32, FixedVectorOfLengthAndType<[2], [BF16]>],
                           "a 32-bit word: i32, f32 or vector<2xbf16>">;
def Baton_Words : AnyTypeOf<[I16, I32, FixedVectorOfLengthAndType<[2, 4], [I32]>],
                            "half a word, or 1, 2 or 4: i16, i32, vector<2xi32> or vector<4xi32>">;
def Baton_Address : AnyTypeOf<[I64, LLVM_PointerInAddressSpace<1>], "an address in global memory">;

//===-- Where a lane stands -------------------------------------------------------------------===//

class Baton_IdOp<string mnemonic> : Baton_Op<mnemonic, [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let arguments = (ins ConfinedAttr<I32Attr, [IntPositive]>:$count);
  let results = (outs I32:$result);
  let assemblyFormat = "`below` $count attr-dict";
}

def Baton_ThreadIdOp : Baton_IdOp<"thread_id"> {
  let summary = "This lane's number in its workgroup, below the workgroup's size";
}

def Baton_CtaIdOp : Baton_IdOp<"cta_id"> {
  let summary = "This workgroup's number in the grid, below the grid's size";
}

def Baton_RereadArgumentsOp : Baton_Op<"reread_arguments",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "What follows in its block reads the kernel's arguments anew";
  let description = [{
    Else they take SGPRs, 2 an address, from the kernel's start to their last use.
  }];
  let assemblyFormat = "attr-dict";
}

//===-- Stages --------------------------------------------------------------------------------===//

def Baton_YieldOp : Baton_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["StageOp", "ButterflyOp"]>]> {
  let summary = "Ends the body of a stage or of a butterfly's combiner";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def Baton_StageOp : Baton_Op<"stage", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "A named piece of the kernel";
  let description = [{
    Runs its body once, in place. The name survives into debug information, the ISA listing, the
    checks and the errors. Results are the values of the body that later code uses.
    ```mlir
    baton.stage "reduce" { ... }
    %w = baton.stage "o" -> vector<4xi32> { ... baton.yield %x : vector<4xi32> }
    ```
  }];
  let arguments = (ins StrAttr:$stage);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$stage (`->` type($results)^)? $body attr-dict";
  let hasVerifier = 1;
}

//===-- Global memory -------------------------------------------------------------------------===//

def Baton_BufferOp : Baton_Op<"buffer", [Pure]> {
  let summary = "Builds a buffer resource from a wave-uniform address";
  let description = [{
    Loads outside `bytes` read zero, stores outside are dropped, by the hardware's range check.
  }];
  let arguments = (ins Baton_Address:$address, I64Attr:$bytes);
  let results = (outs Baton_BufferType:$buffer);
  let assemblyFormat = "$address `bytes` $bytes attr-dict `:` type($address)";
  let hasVerifier = 1;
}

def Baton_LoadOp : Baton_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads half a word, or 1, 2 or 4, at a byte offset of a buffer, at a scope";
  let arguments = (ins Baton_BufferType:$buffer, I32:$offset, Baton_ScopeAttr:$scope,
                       UnitAttr:$streaming);
  let results = (outs Baton_Words:$words);
  let assemblyFormat = "$buffer `[` $offset `]` $scope (`streaming` $streaming^)? attr-dict"
                       " `:` type($words)";
}

def Baton_StoreOp : Baton_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stores half a word, or 1, 2 or 4, at a byte offset of a buffer, at a scope";
  let arguments = (ins Baton_Words:$words, Baton_BufferType:$buffer, I32:$offset,
                       Baton_ScopeAttr:$scope);
  let assemblyFormat = "$words `,` $buffer `[` $offset `]` $scope attr-dict `:` type($words)";
}

def Baton_ScalarLoadOp : Baton_Op<"scalar_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads one word or double word that no one writes during the launch";
  let description = [{
    Address and byte offset are wave-uniform: the load goes through the scalar cache, which is not
    coherent with stores of this launch.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<1>:$address, I32:$offset);
  let results = (outs AnyTypeOf<[I32, I64]>:$value);
  let assemblyFormat = "$address `[` $offset `]` attr-dict `:` type($value)";
}

//===-- LDS -----------------------------------------------------------------------------------===//

def Baton_LdsOp : Baton_Op<"lds", [Symbol]> {
  let summary = "A named range of the workgroup's LDS; ranges may overlap (a union)";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$offset, I64Attr:$bytes);
  let assemblyFormat = "$sym_name `offset` $offset `bytes` $bytes attr-dict";
  let hasVerifier = 1;
}

def Baton_LdsLoadOp : Baton_Op<"lds_load", [MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Loads a scalar or a vector at a byte offset of an LDS range, aligned to its size";
  let arguments = (ins FlatSymbolRefAttr:$lds, I32:$offset);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$lds `[` $offset `]` attr-dict `:` type($value)";
}

def Baton_LdsStoreOp : Baton_Op<"lds_store", [MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Stores a scalar or a vector at a byte offset of an LDS range, aligned to its size";
  let arguments = (ins AnyType:$value, FlatSymbolRefAttr:$lds, I32:$offset);
  let assemblyFormat = "$value `,` $lds `[` $offset `]` attr-dict `:` type($value)";
}

def Baton_BarrierOp : Baton_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "All lanes of the workgroup arrive; LDS writes before are seen after";
  let assemblyFormat = "attr-dict";
}

//===-- Lanes ---------------------------------------------------------------------------------===//

def Baton_ButterflyOp : Baton_Op<"butterfly", [SingleBlock, RecursiveMemoryEffects,
    AllTypesMatch<["inputs", "results"]>]> {
  let summary = "Combines each lane's values with those of lane ^ offset, offset after offset";
  let description = [{
    The combiner must be symmetric: it receives the two lanes' values in no particular order. Every
    lane of the wave that shares a group must be active.
    ```mlir
    %sum = baton.butterfly %v offsets [16, 8, 4, 2, 1] : f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      baton.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[I32, F32]>>:$inputs, DenseI32ArrayAttr:$offsets);
  let results = (outs Variadic<AnyTypeOf<[I32, F32]>>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = "$inputs `offsets` $offsets `:` type($inputs) $combiner attr-dict";
  let hasVerifier = 1;
}

def Baton_WaveScanOp : Baton_Op<"wave_scan", [Pure, SameOperandsAndResultType]> {
  let summary = "Inclusive prefix sum over the lanes of a wave, all of them active";
  let arguments = (ins I32:$input);
  let results = (outs I32:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

//===-- Matrix --------------------------------------------------------------------------------===//

def Baton_MfmaOp : Baton_Op<"mfma", [Pure, AllTypesMatch<["a", "b"]>,
    AllTypesMatch<["c", "result"]>]> {
  let summary = "c + a b, a 16x16x32 step in bf16 with fp32 accumulation";
  let description = [{
    Lane l holds of a: row l % 16, of b: column l % 16, both at k = 8 (l / 16) .. + 7; of c and the
    result: column l % 16, rows 4 (l / 16) .. + 3. On a chip whose bf16 MFMA has K 16 the step is
    two of them: first every lane's low four k, then its high four.
  }];
  let arguments = (ins FixedVectorOfLengthAndType<[8], [BF16]>:$a,
                       FixedVectorOfLengthAndType<[8], [BF16]>:$b,
                       FixedVectorOfLengthAndType<[4], [F32]>:$c);
  let results = (outs FixedVectorOfLengthAndType<[4], [F32]>:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($c)";
}

//===-- Hand-offs -----------------------------------------------------------------------------===//

def Baton_RegionOp : Baton_Op<"region", [Symbol]> {
  let summary = "Declares hand-off memory: its space, protocol, logical shape and element type";
  let description = [{
    `offset` is its byte offset in its space (for the peer space: in one half), set by the pass
    `layout-regions`. A word is one f32, one i32 or two adjacent bf16 of the innermost dimension.
    A sentinel region holds bf16 of shape [sources, tokens, width]; its words lie blocked, so that
    pushing and reducing touch whole lines (runtime/object/handoff_protocol.h). A plain region lies
    in scratch and holds rows that a flag publishes; baton.rows opens it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Baton_SpaceAttr:$space,
                       Baton_ProtocolAttr:$protocol, DenseI64ArrayAttr:$shape,
                       TypeAttr:$element, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "$sym_name $space $protocol $element `shape` $shape (`offset` $offset^)?"
                       " attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Elements of the logical shape.
    int64_t elements();
    /// Words: elements of 32 bits, or pairs of bf16.
    int64_t words();
    /// Bytes that the protocol takes for a word: a tagged one is a pair of 8 bytes.
    int64_t wordBytes();
    /// Bytes of all words.
    int64_t bytes();
    /// The type of one word: i32, f32 or vector<2xbf16>.
    ::mlir::Type wordType();
  }];
}

def Baton_HandoffsOp : Baton_Op<"handoffs", [AttrSizedOperandSegments]> {
  let summary = "Opens this launch's hand-off memory";
  let description = [{
    The tag of the launch is ((epoch mod 2^22) x 256 + slot + 1); the epoch's parity picks the half
    of the peer buffers. `peers` is the table of the 8 ranks' peer-buffer addresses. With `diag`,
    an array of one 32-byte record a workgroup, every wait is bounded: a workgroup whose wait gives
    up writes its record, the first of the step only, and runs on.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<1>:$scratch, LLVM_PointerInAddressSpace<1>:$epoch,
                       I32:$slot, Optional<LLVM_PointerInAddressSpace<1>>:$peers,
                       Optional<I32>:$rank, Optional<LLVM_PointerInAddressSpace<1>>:$diag);
  let results = (outs Baton_HandoffsType:$handoffs);
  let assemblyFormat = "`scratch` $scratch `epoch` $epoch `slot` $slot"
                       " (`peers` $peers^ `rank` $rank)? (`diag` $diag^)? attr-dict";
  let hasVerifier = 1;
}

def Baton_RowsOp : Baton_Op<"rows", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The rows of a plain region as a buffer";
  let description = [{
    They are stored at device scope before a baton.publish, and loaded at device scope behind a poll
    of its flag.
  }];
  let arguments = (ins Baton_HandoffsType:$handoffs, FlatSymbolRefAttr:$region);
  let results = (outs Baton_BufferType:$buffer);
  let assemblyFormat = "$handoffs $region attr-dict";
}

def Baton_PutOp : Baton_Op<"put", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Puts one word, or two adjacent ones, with their tags by one store";
  let description = [{
    `index` counts words. `rank` says whose peer buffer; a scratch region has none. With `raw` the
    values are i32 words whatever the region's element type: integer payloads must not travel
    through a float value.
  }];
  let arguments = (ins Baton_HandoffsType:$handoffs, FlatSymbolRefAttr:$region, I32:$index,
                       Variadic<Baton_Word>:$values, Optional<I32>:$rank, UnitAttr:$raw);
  let assemblyFormat = "$handoffs $region `[` $index `]` (`of` $rank^)? (`raw` $raw^)? `=` $values"
                       " attr-dict `:` type($values)";
  let hasVerifier = 1;
  let extraClassDeclaration = "static constexpr size_t kMaxWords = 2;";
}

def Baton_PollOp : Baton_Op<"poll", [MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Waits until all of a batch's words carry the launch's tag; returns the words";
  let description = [{
    Spec i is `counts[i]` adjacent words (1 or 2) of `regions[i]` from word `indices[i]`. Peer
    regions are read in this rank's own buffer. All specs are loaded again while any tag is stale.
    `behind_loads`: that it waits for the loads in flight before it, too, is meant.
  }];
  let arguments = (ins Baton_HandoffsType:$handoffs, FlatSymbolRefArrayAttr:$regions,
                       Variadic<I32>:$indices, DenseI32ArrayAttr:$counts, UnitAttr:$behind_loads);
  let results = (outs Variadic<Baton_Word>:$words);
  let assemblyFormat = "$handoffs $regions `at` `(` $indices `)` `words` $counts"
                       " (`behind_loads` $behind_loads^)? attr-dict `:` type($words)";
  let hasVerifier = 1;
  let extraClassDeclaration = "static constexpr size_t kMaxSpecs = 12;";
}

def Baton_PutSentOp : Baton_Op<"put_sent", [MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Puts one word of a sentinel region by one plain store";
  let description = [{
    The word itself says that it has arrived: a payload that equals the sentinel 0xFFFFFFFF becomes
    0xFFFEFFFE, which still holds two NaNs.
  }];
  let arguments = (ins Baton_HandoffsType:$handoffs, FlatSymbolRefAttr:$region, I32:$index,
                       Baton_Word:$value, Optional<I32>:$rank);
  let assemblyFormat = "$handoffs $region `[` $index `]` (`of` $rank^)? `=` $value attr-dict"
                       " `:` type($value)";
}

def Baton_PollSentOp : Baton_Op<"poll_sent", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Waits until no word of a batch is the sentinel; returns the words";
  let description = [{
    All words are loaded again while any equals the sentinel. With `rearm` the sentinel is stored
    back at once; else a baton.rearm behind it does so, off the critical path. Peer regions are read
    in this rank's own buffer.
  }];
  let arguments = (ins Baton_HandoffsType:$handoffs, FlatSymbolRefArrayAttr:$regions,
                       Variadic<I32>:$indices, UnitAttr:$rearm);
  let results = (outs Variadic<Baton_Word>:$words);
  let assemblyFormat = "$handoffs $regions `at` `(` $indices `)` (`rearm` $rearm^)? attr-dict"
                       " `:` type($words)";
  let hasVerifier = 1;
}

def Baton_RearmOp : Baton_Op<"rearm", [MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Stores the sentinel into a word that this lane has polled";
  let description = [{
    A reader re-arms a word before the writer's next use of the same half.
  }];
  let arguments = (ins Baton_HandoffsType:$handoffs, FlatSymbolRefAttr:$region, I32:$index);
  let assemblyFormat = "$handoffs $region `[` $index `]` attr-dict";
}

def Baton_PublishOp : Baton_Op<"publish", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Raises a flag behind plain rows: waits for every lane's stores, then puts 1";
  let description = [{
    Every lane waits for its own stores, the workgroup meets at a barrier, one lane puts the word.
  }];
  let arguments = (ins Baton_HandoffsType:$handoffs, FlatSymbolRefAttr:$region, I32:$index);
  let assemblyFormat = "$handoffs $region `[` $index `]` attr-dict";
}

//===-- Timeline ------------------------------------------------------------------------------===//

def Baton_TimelineOp : Baton_Op<"timeline", [MemoryEffects<[MemWrite]>]> {
  let summary = "Asks for a time stamp at every stage boundary";
  let description = [{
    `stamps` is an i64 array [workgroups, 2 x stage ops]: the 100 MHz clock as lane 0 enters and
    leaves each stage, in the order of the stage ops in the kernel; 0 for a stage that the workgroup
    does not run. Stands at the top of the kernel; the pass `stamp-stages` takes it away.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<1>:$stamps);
  let assemblyFormat = "$stamps attr-dict";
  let hasVerifier = 1;
}

#endif  // BATON_OPS
