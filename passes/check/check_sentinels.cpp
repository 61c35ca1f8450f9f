// Checks that a sentinel word is put once before its reader re-arms it, and that it is re-armed.
// Changes nothing.
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/check/proven_values.h"
#include "passes/check/stage_error.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {
#define GEN_PASS_DEF_CHECKSENTINELS
#include "passes/Passes.h.inc"

namespace {

using mlir::LogicalResult;
using mlir::LoopLikeOpInterface;
using mlir::Operation;
using mlir::Value;
namespace scf = mlir::scf;

/// One op's use of one word.
struct Use {
  Operation* op;
  Value index;
  Value rank;  ///< of a put into a peer region
};

/// Everything that touches one sentinel region, in program order.
struct Uses {
  llvm::SmallVector<Use> puts, polls, rearms;  ///< a poll that re-arms at once is also a re-arm
};

/// What decides whether an op of a branch or a loop runs. Of a loop: it may not turn at all.
struct Guard {
  Operation* op;
  Value condition;  ///< of a branch
  bool holds = true;
};

bool inThen(scf::IfOp branch, Operation* inner) {
  return branch.getThenRegion().isAncestor(inner->getParentRegion());
}

/// Whether the loop turns at most `turns` times, by its constant bounds.
bool turnsAtMost(Operation* op, int64_t turns) {
  auto loop = mlir::dyn_cast<scf::ForOp>(op);
  llvm::APInt lower, upper, step;
  if (!loop || !mlir::matchPattern(loop.getLowerBound(), mlir::m_ConstantInt(&lower)) ||
      !mlir::matchPattern(loop.getUpperBound(), mlir::m_ConstantInt(&upper)) ||
      !mlir::matchPattern(loop.getStep(), mlir::m_ConstantInt(&step))) {
    return false;
  }
  return upper.getSExtValue() - lower.getSExtValue() <= turns * step.getSExtValue();
}

/// Whether constants keep `op` from ever running.
bool isDead(Operation* op) {
  for (Operation* parent = op->getParentOp(); parent; parent = parent->getParentOp()) {
    if (turnsAtMost(parent, 0)) return true;
    auto branch = mlir::dyn_cast<scf::IfOp>(parent);
    llvm::APInt condition;
    if (!branch || !mlir::matchPattern(branch.getCondition(), mlir::m_ConstantInt(&condition))) {
      continue;
    }
    if (inThen(branch, op) == condition.isZero()) return true;
  }
  return false;
}

/// Two ops and the innermost region that holds both.
struct Pair {
  Pair(Operation* first, Operation* second) : region(first->getParentRegion()) {
    while (!region->isAncestor(second->getParentRegion())) region = region->getParentRegion();
    a = region->findAncestorOpInRegion(*first);
    b = region->findAncestorOpInRegion(*second);
  }
  /// In the order of the program, and not in the two arms of one branch.
  bool inOrder() const {
    if (a == b) return !mlir::isa<scf::IfOp>(a);
    return a->getBlock() != b->getBlock() || a->isBeforeInBlock(b);
  }

  mlir::Region* region;
  Operation *a, *b;
};

/// The branches and loops around `op`, below `region`.
llvm::SmallVector<Guard> guardsOf(Operation* op, mlir::Region* region) {
  llvm::SmallVector<Guard> guards;
  for (Operation* parent = op->getParentOp(); parent != region->getParentOp();
       parent = parent->getParentOp()) {
    if (auto branch = mlir::dyn_cast<scf::IfOp>(parent)) {
      guards.push_back({parent, branch.getCondition(), inThen(branch, op)});
    } else if (!mlir::isa<StageOp>(parent)) {
      guards.push_back({parent, {}});
    }
  }
  return guards;
}

class SentinelCheck {
 public:
  explicit SentinelCheck(mlir::ModuleOp module) {
    module->walk([&](Operation* op) {
      if (auto put = mlir::dyn_cast<PutSentOp>(op)) {
        usesOf(op, put.getRegionAttr()).puts.push_back({op, put.getIndex(), put.getRank()});
      } else if (auto rearm = mlir::dyn_cast<RearmOp>(op)) {
        usesOf(op, rearm.getRegionAttr()).rearms.push_back({op, rearm.getIndex(), {}});
      } else if (auto poll = mlir::dyn_cast<PollSentOp>(op)) {
        for (auto [symbol, index] : llvm::zip(
                 poll.getRegions().getAsRange<mlir::FlatSymbolRefAttr>(), poll.getIndices())) {
          Uses& uses = usesOf(op, symbol);
          uses.polls.push_back({op, index, {}});
          if (poll.getRearm()) uses.rearms.push_back({op, index, {}});
        }
      }
    });
  }

  LogicalResult run() {
    for (auto& [region, uses] : uses_) {
      if (failed(checkPuts(region, uses)) || failed(checkPolls(region, uses)) ||
          failed(checkRearms(region, uses))) {
        return mlir::failure();
      }
    }
    return mlir::success();
  }

 private:
  Uses& usesOf(Operation* op, mlir::FlatSymbolRefAttr symbol) {
    return uses_[lookupRegion(op, symbol).getSymName()];
  }

  /// Whether guards keep two ops from both running when the ops around them do.
  bool exclude(llvm::ArrayRef<Guard> first, llvm::ArrayRef<Guard> second) {
    return llvm::any_of(first, [&](const Guard& a) {
      return a.condition && llvm::any_of(second, [&](const Guard& b) {
               return b.condition && a.holds != b.holds && proven_.same(a.condition, b.condition);
             });
    });
  }

  /// Whether whoever passes `strict` passes `loose`.
  bool implies(llvm::ArrayRef<Guard> strict, llvm::ArrayRef<Guard> loose) {
    return llvm::all_of(loose, [&](const Guard& a) {
      return a.condition && llvm::any_of(strict, [&](const Guard& b) {
               return b.condition && a.holds == b.holds && proven_.same(a.condition, b.condition);
             });
    });
  }

  /// Whether one lane can run `first` and later `second`, by the order of the program or by another
  /// turn of a loop. With `within`, only loops inside that region count.
  bool mayFollow(Operation* first, Operation* second, mlir::Region* within = nullptr) {
    const Pair pair(first, second);
    for (mlir::Region* region = pair.region; region && region != within;
         region = region->getParentRegion()) {
      if (mlir::isa<LoopLikeOpInterface>(region->getParentOp())) return true;
    }
    return pair.inOrder() && !exclude(guardsOf(first, pair.region), guardsOf(second, pair.region));
  }

  /// Whether a lane that runs one of them runs both, `first` before `second`.
  bool follows(Operation* first, Operation* second) {
    const Pair pair(first, second);
    if (!pair.inOrder() || pair.a->getBlock() != pair.b->getBlock()) return false;
    const auto before = guardsOf(first, pair.region), after = guardsOf(second, pair.region);
    return implies(after, before) || implies(before, after);
  }

  bool steadyGuard(const Guard& guard, LoopLikeOpInterface loop) {
    if (guard.condition) return proven_.steady(guard.condition, loop);
    auto inner = mlir::dyn_cast<scf::ForOp>(guard.op);
    return inner && proven_.steady(inner.getInductionVar(), loop);
  }

  /// Whether every turn of `loop` puts the word again.
  bool repeats(const Use& put, LoopLikeOpInterface loop) {
    return !turnsAtMost(loop, 1) && proven_.steady(put.index, loop) &&
           proven_.steady(put.rank, loop) &&
           llvm::all_of(guardsOf(put.op, &loop->getRegion(0)),
                        [&](const Guard& guard) { return steadyGuard(guard, loop); });
  }

  bool rearmedIn(const Uses& uses, const Use& put, LoopLikeOpInterface loop) {
    return llvm::any_of(uses.rearms, [&](const Use& rearm) {
      return loop->isAncestor(rearm.op) && !isDead(rearm.op) && !differ(rearm.index, put.index);
    });
  }

  bool rearmedBetween(const Uses& uses, const Use& first, const Use& second) {
    mlir::Region* within = Pair(first.op, second.op).region;
    return llvm::any_of(uses.rearms, [&](const Use& rearm) {
      return !isDead(rearm.op) && !differ(rearm.index, second.index) &&
             mayFollow(first.op, rearm.op, within) && mayFollow(rearm.op, second.op, within);
    });
  }

  /// Whether `rearm` may re-arm what `poll` has read.
  bool rearms(const Use& rearm, const Use& poll) {
    return !differ(rearm.index, poll.index) &&
           (rearm.op == poll.op || mayFollow(poll.op, rearm.op));
  }

  /// Words are compared as far as they can be proven equal: the same rank and index.
  LogicalResult checkPuts(llvm::StringRef region, const Uses& uses) {
    for (auto [i, put] : llvm::enumerate(uses.puts)) {
      if (isDead(put.op)) continue;
      bool again = llvm::any_of(llvm::ArrayRef(uses.puts).take_front(i), [&](const Use& earlier) {
        return proven_.same(earlier.index, put.index) && proven_.same(earlier.rank, put.rank) &&
               !isDead(earlier.op) && follows(earlier.op, put.op) &&
               !rearmedBetween(uses, earlier, put);
      });
      for (auto loop = put.op->getParentOfType<LoopLikeOpInterface>(); loop && !again;
           loop = loop->getParentOfType<LoopLikeOpInterface>()) {
        again = repeats(put, loop) && !rearmedIn(uses, put, loop);
      }
      if (!again) continue;
      return stageError(put.op) << "puts a word of sentinel region '" << region
                                << "' a second time before its re-arm";
    }
    return mlir::success();
  }

  LogicalResult checkPolls(llvm::StringRef region, const Uses& uses) {
    for (const Use& poll : uses.polls) {
      const bool rearmed = llvm::any_of(
          uses.rearms, [&](const Use& rearm) { return !isDead(rearm.op) && rearms(rearm, poll); });
      if (rearmed || isDead(poll.op)) continue;
      return stageError(poll.op) << "polls sentinel region '" << region
                                 << "', but no path from here reaches a re-arm";
    }
    return mlir::success();
  }

  LogicalResult checkRearms(llvm::StringRef region, const Uses& uses) {
    for (const Use& rearm : uses.rearms) {
      if (isDead(rearm.op)) {
        // A poll that never runs needs no re-arm of its own.
        if (mlir::isa<PollSentOp>(rearm.op)) continue;
        return stageError(rearm.op)
               << "no path reaches this re-arm of sentinel region '" << region << "'";
      }
      const bool read =
          llvm::any_of(uses.polls, [&](const Use& poll) { return rearms(rearm, poll); });
      if (!read) {
        return stageError(rearm.op)
               << "re-arms sentinel region '" << region << "' before any poll has read it";
      }
    }
    return mlir::success();
  }

  ProvenValues proven_;
  llvm::MapVector<llvm::StringRef, Uses> uses_;
};

struct CheckSentinelsPass : impl::CheckSentinelsBase<CheckSentinelsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(SentinelCheck(getOperation()).run())) signalPassFailure();
  }
};

}  // namespace
}  // namespace baton::ir
