// C++ side of the dialect: types, enums, ops, and the names of the module attributes that travel
// from the trace to the code object.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/dialect/BatonDialect.h.inc"
#include "passes/dialect/BatonEnums.h.inc"
#include "runtime/object/handoff_protocol.h"
#include "runtime/target/target.h"

#define GET_TYPEDEF_CLASSES
#include "passes/dialect/BatonTypes.h.inc"

#define GET_OP_CLASSES
#include "passes/dialect/BatonOps.h.inc"

namespace baton::ir {

/// Attributes of the module.
inline constexpr llvm::StringLiteral kChipAttr = "baton.chip";      ///< string, a known chip
inline constexpr llvm::StringLiteral kKeyAttr = "baton.key";        ///< string, canonical key text
inline constexpr llvm::StringLiteral kStagesAttr = "baton.stages";  ///< array of strings, in order
inline constexpr llvm::StringLiteral kArgsAttr = "baton.args";      ///< array of dictionaries
inline constexpr llvm::StringLiteral kRegionsAttr = "baton.regions";    ///< array of dictionaries
inline constexpr llvm::StringLiteral kTimelineAttr = "baton.timeline";  ///< array of strings
inline constexpr llvm::StringLiteral kBoundedWaitsAttr = "baton.bounded_waits";     ///< unit
inline constexpr llvm::StringLiteral kScratchBytesAttr = "baton.scratch_bytes";     ///< i64
inline constexpr llvm::StringLiteral kPeerHalfBytesAttr = "baton.peer_half_bytes";  ///< i64
inline constexpr llvm::StringLiteral kGridAttr = "baton.grid";            ///< i64, workgroups
inline constexpr llvm::StringLiteral kWorkgroupAttr = "baton.workgroup";  ///< i64, lanes
/// Unit attribute of the kernel's function.
inline constexpr llvm::StringLiteral kKernelAttr = "baton.kernel";

/// The target of the module that encloses `op`, or null (a diagnostic is emitted at `op`).
const Target* targetOf(mlir::Operation* op);

/// The scope of the stores and loads of a space: scratch is device, peer is system.
ScopeKind scopeOf(Space space);

/// Bytes of the scalar or vector `type`.
int64_t bytesOf(mlir::Type type);

/// The region or LDS range that `symbol` names, looked up from `op`, or null.
RegionOp lookupRegion(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol);
LdsOp lookupLds(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol);

/// The name of the innermost stage around `op`, or "" outside every stage.
llvm::StringRef stageOf(mlir::Operation* op);

}  // namespace baton::ir
