// Checks every hand-off against its region's declaration. Changes nothing.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "passes/Passes.h"
#include "passes/check/stage_error.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {
#define GEN_PASS_DEF_CHECKHANDOFFS
#include "passes/Passes.h.inc"

namespace {

namespace scf = mlir::scf;
using mlir::LogicalResult;

/// How each region is used, in the order of the declarations.
struct Uses {
  mlir::Operation* put = nullptr;
  mlir::Operation* poll = nullptr;
};

/// The values that an index may take, from the ops that compute it: on demand, once a value.
class IndexRanges {
 public:
  mlir::ConstantIntRanges of(mlir::Value value) {
    auto known = ranges_.find(value);
    if (known != ranges_.end()) return known->second;
    mlir::ConstantIntRanges range = infer(value);
    ranges_.try_emplace(value, range);
    return range;
  }

 private:
  mlir::ConstantIntRanges infer(mlir::Value value) {
    unsigned width = mlir::ConstantIntRanges::getStorageBitwidth(value.getType());
    mlir::ConstantIntRanges result = mlir::ConstantIntRanges::maxRange(width);
    auto op = value.getDefiningOp<mlir::InferIntRangeInterface>();
    if (!op) return result;
    llvm::SmallVector<mlir::ConstantIntRanges> operands;
    for (mlir::Value operand : op->getOperands()) {
      if (!operand.getType().isIntOrIndex()) return result;
      operands.push_back(of(operand));
    }
    op.inferResultRanges(operands, [&](mlir::Value of, const mlir::ConstantIntRanges& range) {
      if (of == value) result = range;
    });
    return result;
  }

  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> ranges_;
};

class HandoffCheck {
 public:
  explicit HandoffCheck(mlir::ModuleOp module) : module_(module) {}

  LogicalResult run() {
    for (RegionOp region : module_.getOps<RegionOp>()) uses_[region];
    mlir::WalkResult result = module_->walk([&](mlir::Operation* op) {
      return failed(visit(op)) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    });
    if (result.wasInterrupted()) return mlir::failure();
    return checkPartners();
  }

 private:
  LogicalResult visit(mlir::Operation* op) {
    return llvm::TypeSwitch<mlir::Operation*, LogicalResult>(op)
        .Case([&](PutOp put) {
          return visitPut(op, put.getRegionAttr(), Protocol::tagged, put.getIndex(),
                          put.getValues().size(), put.getRank());
        })
        .Case([&](PutSentOp put) {
          return visitPut(op, put.getRegionAttr(), Protocol::sentinel, put.getIndex(), 1,
                          put.getRank());
        })
        .Case([&](PublishOp publish) {
          return visitPut(op, publish.getRegionAttr(), Protocol::tagged, publish.getIndex(), 1, {});
        })
        .Case([&](PollOp poll) {
          return visitPoll(op, poll.getRegions(), Protocol::tagged, poll.getIndices(),
                           poll.getCounts());
        })
        .Case([&](PollSentOp poll) {
          const llvm::SmallVector<int32_t> ones(poll.getIndices().size(), 1);
          return visitPoll(op, poll.getRegions(), Protocol::sentinel, poll.getIndices(), ones);
        })
        .Case([&](RearmOp rearm) {
          RegionOp region = lookupRegion(op, rearm.getRegionAttr());
          if (failed(checkProtocol(op, "re-arms", region, Protocol::sentinel))) {
            return mlir::failure();
          }
          return checkIndex(op, region, rearm.getIndex(), 1);
        })
        .Default(mlir::success());
  }

  LogicalResult visitPut(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol, Protocol protocol,
                         mlir::Value index, size_t count, mlir::Value rank) {
    RegionOp region = lookupRegion(op, symbol);
    uses_[region].put = op;
    if (failed(checkProtocol(op, "puts", region, protocol))) return mlir::failure();
    if (rank && failed(checkRank(op, rank))) return mlir::failure();
    return checkIndex(op, region, index, static_cast<int64_t>(count));
  }

  LogicalResult visitPoll(mlir::Operation* op, mlir::ArrayAttr symbols, Protocol protocol,
                          mlir::ValueRange indices, llvm::ArrayRef<int32_t> counts) {
    RegionOp first;
    for (auto [symbol, index, count] :
         llvm::zip(symbols.getAsRange<mlir::FlatSymbolRefAttr>(), indices, counts)) {
      RegionOp region = lookupRegion(op, symbol);
      uses_[region].poll = op;
      if (!first) first = region;
      if (failed(checkProtocol(op, "polls", region, protocol))) return mlir::failure();
      if (region.getSpace() != first.getSpace()) {
        return stageError(op) << "one poll over two spaces: '" << first.getSymName() << "' is "
                              << stringifySpace(first.getSpace()) << ", '" << region.getSymName()
                              << "' is " << stringifySpace(region.getSpace());
      }
      if (failed(checkIndex(op, region, index, count))) return mlir::failure();
    }
    return mlir::success();
  }

  /// Refuses to mix protocols: a tag would be read as a payload, or a payload as a tag.
  LogicalResult checkProtocol(mlir::Operation* op, llvm::StringRef verb, RegionOp region,
                              Protocol protocol) {
    if (region.getProtocol() == protocol) return mlir::success();
    return stageError(op) << verb << " region '" << region.getSymName() << "' as "
                          << stringifyProtocol(protocol) << ", but it is declared "
                          << stringifyProtocol(region.getProtocol());
  }

  /// Refuses an index that every lane computes out of bounds. An index that only some lanes compute
  /// so is left to the guards around it.
  LogicalResult checkIndex(mlir::Operation* op, RegionOp region, mlir::Value index, int64_t count) {
    const mlir::ConstantIntRanges range = ranges_.of(index);
    int64_t low = range.smin().getSExtValue(), high = range.smax().getSExtValue();
    if (high >= 0 && low + count <= region.words()) return mlir::success();
    const int64_t last = high + count - 1;
    auto diagnostic = stageError(op) << (last == low ? "word " : "words ") << low;
    if (last != low) diagnostic << " .. " << last;
    return diagnostic << " of region '" << region.getSymName() << "' "
                      << (last == low ? "is" : "are") << " out of bounds: it has " << region.words()
                      << " words";
  }

  /// Refuses a rank that no lane computes within the table of peers.
  LogicalResult checkRank(mlir::Operation* op, mlir::Value rank) {
    const mlir::ConstantIntRanges range = ranges_.of(rank);
    int64_t low = range.smin().getSExtValue(), high = range.smax().getSExtValue();
    if (high >= 0 && low < kRanks) return mlir::success();
    auto diagnostic = stageError(op) << "puts to rank " << low;
    if (high != low) diagnostic << " .. " << high;
    return diagnostic << ": ranks are 0 .. " << kRanks - 1;
  }

  LogicalResult checkPartners() {
    bool hangs = false;
    for (auto& [op, uses] : uses_) {
      auto region = mlir::cast<RegionOp>(op);
      if (region.getProtocol() == Protocol::plain) continue;  // its flag is what is polled
      if (uses.poll && !uses.put) {
        stageError(uses.poll) << "polls region '" << region.getSymName() << "', which nothing puts";
        hangs = true;
      } else if (!uses.poll) {
        if (uses.put && region.getElement().isInteger(32))
          continue;  // flags may serve a later launch
        region.emitRemark() << "region '" << region.getSymName() << "' is never polled";
      }
    }
    return mlir::failure(hangs);
  }

  mlir::ModuleOp module_;
  IndexRanges ranges_;
  llvm::MapVector<mlir::Operation*, Uses> uses_;
};

using Loads = llvm::SetVector<mlir::Operation*>;

/// Remarks on polls that wait behind streaming loads: a poll's loads retire in order behind them.
class InFlightCheck {
 public:
  void visit(mlir::Region& region, Loads& in_flight) {
    for (mlir::Block& block : region) {
      for (mlir::Operation& op : block) visit(op, in_flight);
    }
  }

 private:
  /// Ops that name the same registers anew: none waits for what is loaded into them.
  static bool renames(mlir::Operation& op) {
    return mlir::isa<mlir::arith::BitcastOp, mlir::vector::BitCastOp, mlir::vector::ExtractOp,
                     mlir::vector::FromElementsOp>(op);
  }

  void inherit(mlir::Value from, mlir::Value to) {
    const Loads loads = sources_.lookup(from);
    sources_[to].insert_range(loads);
  }

  void followValues(mlir::Operation& op, Loads& in_flight) {
    auto stage = mlir::dyn_cast_if_present<StageOp>(op.getParentOp());
    if (auto load = mlir::dyn_cast<LoadOp>(op); load && load.getStreaming()) {
      sources_[load.getWords()].insert(&op);
      in_flight.insert(&op);
    } else if (stage && mlir::isa<YieldOp>(op)) {
      for (auto [value, result] : llvm::zip(op.getOperands(), stage.getResults())) {
        inherit(value, result);
      }
    } else if (renames(op)) {
      for (mlir::Value operand : op.getOperands()) inherit(operand, op.getResult(0));
    } else {
      for (mlir::Value operand : op.getOperands()) in_flight.set_subtract(sources_.lookup(operand));
    }
  }

  void visit(mlir::Operation& op, Loads& in_flight) {
    followValues(op, in_flight);
    auto poll = mlir::dyn_cast<PollOp>(op);
    const bool meant = poll && poll.getBehindLoads();
    if (mlir::isa<PollOp, PollSentOp>(op) && !meant && !in_flight.empty()) {
      stageRemark(&op) << "polls behind " << in_flight.size() << " streaming loads in flight";
    }
    if (mlir::isa<StageOp>(op)) return visit(op.getRegion(0), in_flight);
    Loads after = in_flight;
    for (mlir::Region& region : op.getRegions()) {
      Loads inside = in_flight;
      visit(region, inside);
      after.insert_range(inside);
    }
    in_flight = std::move(after);
  }

  llvm::DenseMap<mlir::Value, Loads> sources_;  ///< the streaming loads that a value waits for
};

struct CheckHandoffsPass : impl::CheckHandoffsBase<CheckHandoffsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(HandoffCheck(getOperation()).run())) return signalPassFailure();
    Loads in_flight;
    InFlightCheck().visit(getOperation().getBodyRegion(), in_flight);
  }
};

}  // namespace
}  // namespace baton::ir
