// The memory behind hand-offs while they are lowered: buffers, byte offsets, words.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Builders.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {

/// What one baton.handoffs opens, as values.
struct Launch {
  mlir::Value tag;
  mlir::Value scratch_address;              ///< ptr
  mlir::Value scratch;                      ///< buffer
  mlir::Value local;                        ///< buffer: this rank's half
  mlir::Value half_offset;                  ///< i64: byte offset of this epoch's half
  mlir::Value peers;                        ///< ptr: the table
  mlir::Value diag;                         ///< ptr: the records, or null
  std::array<mlir::Value, kRanks> ranks{};  ///< buffers of the ranks that are named by constants
};

class HandoffMemory {
 public:
  explicit HandoffMemory(mlir::ModuleOp module) : b(module.getContext()), module_(module) {}

  /// Opening happens once, at the kernel's head, so that no poll, and no put to a rank that is a
  /// constant, waits for the table. A put to a computed rank loads the rank's entry where it
  /// stands.
  void open(HandoffsOp op);
  Launch& launchOf(mlir::Value handoffs);
  void eraseOpened();

  /// The buffer that a put into `region` at `rank` (null for scratch) stores to.
  mlir::Value bufferOfPut(mlir::Location loc, Launch& launch, mlir::Value rank);
  /// The buffer of a plain region's rows.
  mlir::Value bufferOfRows(mlir::Location loc, const Launch& launch, RegionOp region);
  /// The buffer that a poll of `region` loads from.
  mlir::Value bufferOfPoll(Launch& launch, RegionOp region);
  /// Byte offset of word `index`.
  mlir::Value offsetOf(mlir::Location loc, RegionOp region, mlir::Value index);

  /// An f32, i32 or pair of bf16 as an i32, and back.
  mlir::Value toWord(mlir::Location loc, mlir::Value value);
  mlir::Value fromWord(mlir::Location loc, mlir::Value word, mlir::Type type);

  mlir::Value i32(mlir::Location loc, int64_t value);
  mlir::Value i64(mlir::Location loc, int64_t value);
  mlir::Value add(mlir::Location loc, mlir::Value value, int64_t constant);
  /// The location of a hand-off: "put ar" at `loc`.
  mlir::Location named(llvm::StringRef verb, RegionOp region, mlir::Location loc);
  /// A compiler-only fence: no load may leave a loop or pass it, no instruction is emitted.
  void pin(mlir::Location loc);

  mlir::OpBuilder b;

 private:
  int64_t moduleBytes(llvm::StringRef name);
  mlir::Value buffer(mlir::Location loc, mlir::Value address, int64_t bytes);
  mlir::Value peerBuffer(mlir::Location loc, const Launch& launch, mlir::Value rank);

  mlir::ModuleOp module_;
  llvm::DenseMap<mlir::Operation*, Launch> launches_;
};

}  // namespace baton::ir
