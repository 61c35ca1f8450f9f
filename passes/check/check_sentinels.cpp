// Checks that a sentinel word is put once before its reader re-arms it, and that it is re-armed.
// Changes nothing.
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/Passes.h"
#include "passes/check/stage_error.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {
#define GEN_PASS_DEF_CHECKSENTINELS
#include "passes/Passes.h.inc"

namespace {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::Value;

/// Everything that touches one sentinel region, in program order.
struct Uses {
  llvm::SmallVector<PutSentOp> puts;
  llvm::SmallVector<PollSentOp> polls;
  llvm::SmallVector<Operation*> rearms;  ///< RearmOp, and PollSentOp that re-arms at once
};

/// One value, or two constants that are equal.
bool same(Value a, Value b) {
  if (a == b) return true;
  llvm::APInt left, right;
  return a && b && mlir::matchPattern(a, mlir::m_ConstantInt(&left)) &&
         mlir::matchPattern(b, mlir::m_ConstantInt(&right)) && left == right;
}

/// Whether an scf.if with a constant condition keeps `op` from ever running.
bool isDead(Operation* op) {
  for (Operation* inner = op; Operation* parent = inner->getParentOp(); inner = parent) {
    auto branch = mlir::dyn_cast<mlir::scf::IfOp>(parent);
    llvm::APInt condition;
    if (!branch || !mlir::matchPattern(branch.getCondition(), mlir::m_ConstantInt(&condition))) {
      continue;
    }
    const bool in_then = inner->getParentRegion() == &branch.getThenRegion();
    if (in_then == condition.isZero()) return true;
  }
  return false;
}

/// Whether one thread can run `first` and later `second`: not when they stand in the two arms of
/// one branch, or in the wrong order outside a common loop.
bool mayFollow(Operation* first, Operation* second) {
  mlir::Region* common = first->getParentRegion();
  while (!common->isAncestor(second->getParentRegion())) common = common->getParentRegion();
  Operation* a = common->findAncestorOpInRegion(*first);
  Operation* b = common->findAncestorOpInRegion(*second);
  const bool arms = a == b && mlir::isa<mlir::scf::IfOp>(a);
  if (!arms && (a == b || a->isBeforeInBlock(b))) return true;
  return common->getParentOfType<mlir::LoopLikeOpInterface>() != nullptr;
}

class SentinelCheck {
 public:
  explicit SentinelCheck(mlir::ModuleOp module) : dominance_(module) {
    module->walk([&](Operation* op) {
      if (auto put = mlir::dyn_cast<PutSentOp>(op)) {
        usesOf(op, put.getRegionAttr()).puts.push_back(put);
      } else if (auto rearm = mlir::dyn_cast<RearmOp>(op)) {
        usesOf(op, rearm.getRegionAttr()).rearms.push_back(op);
      } else if (auto poll = mlir::dyn_cast<PollSentOp>(op)) {
        for (auto symbol : poll.getRegions().getAsRange<mlir::FlatSymbolRefAttr>()) {
          Uses& uses = usesOf(op, symbol);
          if (uses.polls.empty() || uses.polls.back() != poll) uses.polls.push_back(poll);
          if (poll.getRearm()) uses.rearms.push_back(op);
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

  LogicalResult refusePut(PutSentOp put, llvm::StringRef region) {
    return stageError(put) << "puts a word of sentinel region '" << region
                           << "' a second time before its re-arm";
  }

  /// Words are compared as far as they can be proven equal: the same rank and index.
  LogicalResult checkPuts(llvm::StringRef region, Uses& uses) {
    for (auto [i, put] : llvm::enumerate(uses.puts)) {
      auto loop = put->getParentOfType<mlir::LoopLikeOpInterface>();
      const auto steady = [&](Value value) {
        return !value || loop.isDefinedOutsideOfLoop(value) ||
               mlir::matchPattern(value, mlir::m_Constant());
      };
      if (loop && steady(put.getIndex()) && steady(put.getRank())) return refusePut(put, region);
      for (PutSentOp earlier : llvm::ArrayRef(uses.puts).take_front(i)) {
        if (same(earlier.getIndex(), put.getIndex()) && same(earlier.getRank(), put.getRank()) &&
            dominance_.dominates(earlier.getOperation(), put.getOperation()) &&
            !rearmedBetween(uses, earlier, put)) {
          return refusePut(put, region);
        }
      }
    }
    return mlir::success();
  }

  bool rearmedBetween(const Uses& uses, Operation* first, Operation* second) {
    return llvm::any_of(uses.rearms, [&](Operation* rearm) {
      return mayFollow(first, rearm) && mayFollow(rearm, second);
    });
  }

  LogicalResult checkPolls(llvm::StringRef region, Uses& uses) {
    for (PollSentOp poll : uses.polls) {
      const bool rearmed = llvm::any_of(uses.rearms, [&](Operation* rearm) {
        return rearm == poll || (!isDead(rearm) && mayFollow(poll, rearm));
      });
      if (rearmed || isDead(poll)) continue;
      return stageError(poll) << "polls sentinel region '" << region
                              << "', but no path from here reaches a re-arm";
    }
    return mlir::success();
  }

  LogicalResult checkRearms(llvm::StringRef region, Uses& uses) {
    for (Operation* rearm : uses.rearms) {
      if (isDead(rearm)) {
        return stageError(rearm) << "no path reaches this re-arm of sentinel region '" << region
                                 << "'";
      }
      const bool read = llvm::any_of(
          uses.polls, [&](PollSentOp poll) { return poll == rearm || mayFollow(poll, rearm); });
      if (!read) {
        return stageError(rearm) << "re-arms sentinel region '" << region
                                 << "' before any poll has read it";
      }
    }
    return mlir::success();
  }

  mlir::DominanceInfo dominance_;
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
