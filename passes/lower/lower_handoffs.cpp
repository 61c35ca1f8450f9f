// From: baton.handoffs, rows, put, poll, put_sent, poll_sent, rearm, publish, region. To: baton's
// scoped memory, scf loops, a barrier. Precondition: layout-regions gave every region its offset.
#include "llvm/ADT/TypeSwitch.h"
#include "passes/Passes.h"
#include "passes/lower/closed_door.h"
#include "passes/lower/poll_loop.h"

namespace baton::ir {
#define GEN_PASS_DEF_LOWERHANDOFFS
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::Value;

/// s_waitcnt of gfx9 with vmcnt 0 and no limit on the other counters.
constexpr int32_t kWaitVmcnt0 = 0x0F70;

class HandoffLowering {
 public:
  explicit HandoffLowering(mlir::ModuleOp module)
      : module_(module), memory_(module), b(memory_.b) {}

  mlir::LogicalResult run() {
    if (failed(checkPreconditions())) return mlir::failure();
    llvm::SmallVector<mlir::Operation*> ops;
    module_->walk([&](mlir::Operation* op) { ops.push_back(op); });
    for (mlir::Operation* op : ops) {
      if (failed(checkAttributes(op))) return mlir::failure();
      if (auto open = mlir::dyn_cast<HandoffsOp>(op)) {
        memory_.open(open);
        if (open.getDiag()) module_->setAttr(kBoundedWaitsAttr, b.getUnitAttr());
      }
    }
    for (mlir::Operation* op : ops) {
      llvm::TypeSwitch<mlir::Operation*>(op)
          .Case<RowsOp, PutOp, PollOp, PutSentOp, PollSentOp, RearmOp, PublishOp>(
              [&](auto handoff) {
                b.setInsertionPoint(handoff);
                lower(handoff);
                handoff.erase();
              });
    }
    memory_.eraseOpened();
    for (RegionOp region : llvm::make_early_inc_range(module_.getOps<RegionOp>())) region.erase();
    return mlir::success();
  }

 private:
  mlir::LogicalResult checkPreconditions() {
    for (llvm::StringRef name :
         {llvm::StringRef(kScratchBytesAttr), llvm::StringRef(kPeerHalfBytesAttr)}) {
      if (!module_->hasAttr(name)) {
        return module_.emitError() << "'" << name << "' is missing: run layout-regions first";
      }
    }
    for (RegionOp region : module_.getOps<RegionOp>()) {
      if (region.getOffset()) continue;
      return region.emitOpError() << "'" << region.getSymName()
                                  << "' has no offset: run layout-regions first";
    }
    return mlir::success();
  }

  /// A publish counts lanes, a bounded wait names its workgroup.
  mlir::LogicalResult checkAttributes(mlir::Operation* op) {
    auto open = mlir::dyn_cast<HandoffsOp>(op);
    llvm::StringRef needed = mlir::isa<PublishOp>(op) ? llvm::StringRef(kWorkgroupAttr)
                             : open && open.getDiag() ? llvm::StringRef(kGridAttr)
                                                      : llvm::StringRef();
    if (needed.empty() || module_->hasAttr(needed)) return mlir::success();
    return op->emitOpError() << "needs the module's '" << needed << "'";
  }

  /// A word never leaves without its tag: one store of one or two pairs.
  void storePairs(Location loc, const Launch& launch, RegionOp region, Value buffer, Value index,
                  mlir::ValueRange values) {
    llvm::SmallVector<Value> words;
    for (Value value : values) {
      words.push_back(memory_.toWord(loc, value));
      words.push_back(launch.tag);
    }
    auto type = mlir::VectorType::get(static_cast<int64_t>(words.size()), b.getI32Type());
    Value packed = mlir::vector::FromElementsOp::create(b, loc, type, words);
    StoreOp::create(b, loc, packed, buffer, memory_.offsetOf(loc, region, index),
                    scopeOf(region.getSpace()));
  }

  void storeSentinel(Location loc, Launch& launch, RegionOp region, Value index) {
    StoreOp::create(b, loc, memory_.i32(loc, static_cast<int32_t>(kSentinel)),
                    memory_.bufferOfPoll(launch, region), memory_.offsetOf(loc, region, index),
                    scopeOf(region.getSpace()));
  }

  void replaceWords(Location loc, mlir::ResultRange words, llvm::ArrayRef<Value> values) {
    for (auto [word, value] : llvm::zip(words, values)) {
      word.replaceAllUsesWith(memory_.fromWord(loc, value, word.getType()));
    }
  }

  void lower(RowsOp op) {
    RegionOp region = lookupRegion(op, op.getRegionAttr());
    op.replaceAllUsesWith(
        memory_.bufferOfRows(op.getLoc(), memory_.launchOf(op.getHandoffs()), region));
  }

  void lower(PutOp op) {
    Launch& launch = memory_.launchOf(op.getHandoffs());
    RegionOp region = lookupRegion(op, op.getRegionAttr());
    Value buffer = memory_.bufferOfPut(op.getLoc(), launch, op.getRank());
    storePairs(memory_.named("put", region, op.getLoc()), launch, region, buffer, op.getIndex(),
               op.getValues());
  }

  /// sent_word: a payload that equals the sentinel becomes another pair of NaNs.
  void lower(PutSentOp op) {
    Launch& launch = memory_.launchOf(op.getHandoffs());
    RegionOp region = lookupRegion(op, op.getRegionAttr());
    Value buffer = memory_.bufferOfPut(op.getLoc(), launch, op.getRank());
    Location loc = memory_.named("put", region, op.getLoc());
    Value word = memory_.toWord(loc, op.getValue());
    Value sentinel = memory_.i32(loc, static_cast<int32_t>(kSentinel));
    Value collides = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, word, sentinel);
    Value payload = memory_.i32(loc, static_cast<int32_t>(kSentinelPayload));
    Value sent = arith::SelectOp::create(b, loc, collides, payload, word);
    StoreOp::create(b, loc, sent, buffer, memory_.offsetOf(loc, region, op.getIndex()),
                    scopeOf(region.getSpace()));
  }

  void lower(PollOp op) {
    llvm::SmallVector<PollSpec> specs;
    for (auto [symbol, index, count] :
         llvm::zip(op.getRegions().getAsRange<mlir::FlatSymbolRefAttr>(), op.getIndices(),
                   op.getCounts())) {
      specs.push_back({lookupRegion(op, symbol), index, count});
    }
    Launch& launch = memory_.launchOf(op.getHandoffs());
    Location loc = memory_.named("poll", specs.front().region, op.getLoc());
    replaceWords(loc, op.getWords(), PollLoop(memory_, launch, specs, op.getLoc()).emit());
  }

  void lower(PollSentOp op) {
    llvm::SmallVector<PollSpec> specs;
    for (auto [symbol, index] :
         llvm::zip(op.getRegions().getAsRange<mlir::FlatSymbolRefAttr>(), op.getIndices())) {
      specs.push_back({lookupRegion(op, symbol), index, 1});
    }
    Launch& launch = memory_.launchOf(op.getHandoffs());
    Location loc = memory_.named("poll", specs.front().region, op.getLoc());
    replaceWords(loc, op.getWords(), PollLoop(memory_, launch, specs, op.getLoc()).emit());
    if (!op.getRearm()) return;
    for (const PollSpec& spec : specs) {
      storeSentinel(memory_.named("rearm", spec.region, op.getLoc()), launch, spec.region,
                    spec.index);
    }
  }

  void lower(RearmOp op) {
    RegionOp region = lookupRegion(op, op.getRegionAttr());
    storeSentinel(memory_.named("rearm", region, op.getLoc()), memory_.launchOf(op.getHandoffs()),
                  region, op.getIndex());
  }

  void lower(PublishOp op) {
    RegionOp region = lookupRegion(op, op.getRegionAttr());
    Location loc = memory_.named("publish", region, op.getLoc());
    memory_.pin(loc);
    mlir::ROCDL::SWaitcntOp::create(b, loc, b.getI32IntegerAttr(kWaitVmcnt0));
    BarrierOp::create(b, loc);
    int64_t lanes = module_->getAttrOfType<mlir::IntegerAttr>(kWorkgroupAttr).getInt();
    Value thread = ThreadIdOp::create(b, loc, b.getI32Type(), static_cast<uint32_t>(lanes));
    Value first =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, memory_.i32(loc, 0));
    auto put = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(put.thenBlock());
    Launch& launch = memory_.launchOf(op.getHandoffs());
    storePairs(loc, launch, region, launch.scratch, op.getIndex(), memory_.i32(loc, 1));
  }

  mlir::ModuleOp module_;
  HandoffMemory memory_;
  mlir::OpBuilder& b;
};

struct LowerHandoffsPass : impl::LowerHandoffsBase<LowerHandoffsPass> {
  void runOnOperation() override {
    if (failed(HandoffLowering(getOperation()).run()) ||
        failed(requireNone<HandoffsOp, RowsOp, PutOp, PollOp, PutSentOp, PollSentOp, RearmOp,
                           PublishOp, RegionOp>(getOperation(), getArgument()))) {
      signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace baton::ir
