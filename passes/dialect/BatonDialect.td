// The baton dialect: what the upstream dialects do not say of a staged, persistent kernel.
#ifndef BATON_DIALECT
#define BATON_DIALECT

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Baton_Dialect : Dialect {
  let name = "baton";
  let cppNamespace = "::baton::ir";
  let summary = "Stages, hand-offs, scoped memory, lane reductions and target-independent MFMA";
  let description = [{
    A traced kernel is a module with one `func.func` that carries `baton.kernel`. The module says
    for which chip it was traced (`baton.chip`), so that a .mlir file alone reproduces a fault.
    Regions of hand-off memory and ranges of LDS are symbols of the module.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Baton_Type<string name, string typeMnemonic> : TypeDef<Baton_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Baton_BufferType : Baton_Type<"Buffer", "buffer"> {
  let summary = "A wave-uniform buffer resource: an address, a size in bytes";
}

def Baton_HandoffsType : Baton_Type<"Handoffs", "handoffs"> {
  let summary = "The hand-off memory of one launch: scratch, peers, tag, parity";
}

def Baton_ScopeAttr : I32EnumAttr<"ScopeKind", "how far a memory operation must be visible", [
    I32EnumAttrCase<"wave", 0>, I32EnumAttrCase<"workgroup", 1>, I32EnumAttrCase<"device", 2>,
    I32EnumAttrCase<"system", 3>]> {
  let cppNamespace = "::baton::ir";
}

def Baton_SpaceAttr : I32EnumAttr<"Space", "where a region lies", [
    I32EnumAttrCase<"scratch", 0>, I32EnumAttrCase<"peer", 1>]> {
  let cppNamespace = "::baton::ir";
}

def Baton_ProtocolAttr : I32EnumAttr<"Protocol", "how a reader knows that an element has arrived", [
    I32EnumAttrCase<"tagged", 0>, I32EnumAttrCase<"sentinel", 1>, I32EnumAttrCase<"plain", 2>]> {
  let cppNamespace = "::baton::ir";
}

#endif  // BATON_DIALECT
