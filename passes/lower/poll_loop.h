// The loop of a poll: loads all words of a batch, and again while any has not arrived.
#pragma once

#include "passes/lower/handoff_memory.h"

namespace baton::ir {

/// `count` adjacent words of a region from word `index`.
struct PollSpec {
  RegionOp region;
  mlir::Value index;
  int64_t count;
};

class PollLoop {
 public:
  /// `specs` are regions of one protocol and one space; `loc` is the poll's own.
  PollLoop(HandoffMemory& memory, Launch& launch, llvm::ArrayRef<PollSpec> specs,
           mlir::Location loc);

  /// Emits the loop at the builder's place; returns the words as i32, in the order of the specs.
  llvm::SmallVector<mlir::Value> emit();

 private:
  /// One loaded word, and what tells whether it has arrived: its tag, or the word itself.
  struct Loaded {
    mlir::Value word, seen, missing;
    const PollSpec* spec;
    int64_t word_of_spec;
    mlir::Location loc;
  };
  /// The first word of a lane that has not arrived.
  struct Missing {
    mlir::Value any, region, index, seen;
  };

  mlir::Value laneValue(mlir::Value value);
  llvm::SmallVector<Loaded> loadBatch();
  Missing firstMissing(llvm::ArrayRef<Loaded> batch);
  mlir::Value clock();
  void report(const Missing& missing);

  HandoffMemory& memory_;
  mlir::OpBuilder& b;
  Launch& launch_;
  llvm::ArrayRef<PollSpec> specs_;
  mlir::Location loc_;
  llvm::SmallVector<mlir::Value> offsets_;
  mlir::Value expected_;  ///< what a word's tag must be, or what the word itself must not be
};

}  // namespace baton::ir
