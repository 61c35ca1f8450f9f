// From: baton.handoffs, put, poll, publish, region. To: baton's scoped memory, scf loops, a
// barrier. Precondition: layout-regions gave every region its offset.
#include "llvm/ADT/DenseMap.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/lower/closed_door.h"

namespace baton::ir {
#define GEN_PASS_DEF_LOWERHANDOFFS
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::Value;

constexpr int32_t kPairBytes = 8;
/// s_waitcnt of gfx9 with vmcnt 0 and no limit on the other counters.
constexpr int32_t kWaitVmcnt0 = 0x0F70;

/// What one baton.handoffs opens, as values.
struct Launch {
  Value tag;
  Value scratch;                      ///< buffer
  Value local;                        ///< buffer: this rank's half
  Value half_offset;                  ///< i64: byte offset of this epoch's half
  Value peers;                        ///< ptr: the table
  std::array<Value, kRanks> ranks{};  ///< buffers of the ranks that are named by constants
};

class HandoffLowering {
 public:
  explicit HandoffLowering(mlir::ModuleOp module) : module_(module), b(module.getContext()) {}

  mlir::LogicalResult run() {
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
    llvm::SmallVector<mlir::Operation*> ops;
    module_->walk([&](mlir::Operation* op) { ops.push_back(op); });
    for (mlir::Operation* op : ops) {
      if (mlir::isa<PublishOp>(op) && !module_->hasAttr(kWorkgroupAttr)) {
        return op->emitOpError() << "needs the module's '" << kWorkgroupAttr << "'";
      }
      if (auto open = mlir::dyn_cast<HandoffsOp>(op)) lower(open);
    }
    for (mlir::Operation* op : ops) {
      if (auto put = mlir::dyn_cast<PutOp>(op)) {
        lower(put);
      } else if (auto poll = mlir::dyn_cast<PollOp>(op)) {
        lower(poll);
      } else if (auto publish = mlir::dyn_cast<PublishOp>(op)) {
        lower(publish);
      }
    }
    for (auto& [open, launch] : launches_) open->erase();
    for (RegionOp region : llvm::make_early_inc_range(module_.getOps<RegionOp>())) region.erase();
    return mlir::success();
  }

 private:
  int64_t moduleBytes(llvm::StringRef name) {
    return std::max<int64_t>(1, module_->getAttrOfType<mlir::IntegerAttr>(name).getInt());
  }

  Value i32(Location loc, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }

  Value add(Location loc, Value value, int64_t constant) {
    if (constant == 0) return value;
    return arith::AddIOp::create(b, loc, value, i32(loc, constant));
  }

  Value buffer(Location loc, Value address, int64_t bytes) {
    return BufferOp::create(b, loc, BufferType::get(b.getContext()), address, bytes);
  }

  /// Opening happens once, at the kernel's head, so that no hand-off waits for the table.
  void lower(HandoffsOp op) {
    b.setInsertionPoint(op);
    Location loc = op.getLoc();
    Launch launch;
    Value epoch = ScalarLoadOp::create(b, loc, b.getI32Type(), op.getEpoch(), i32(loc, 0));
    Value turn = arith::AndIOp::create(b, loc, epoch, i32(loc, (1 << 22) - 1));
    Value tag = arith::ShLIOp::create(b, loc, turn, i32(loc, 8));
    launch.tag = add(loc, arith::AddIOp::create(b, loc, tag, op.getSlot()), 1);
    launch.scratch = buffer(loc, op.getScratch(), moduleBytes(kScratchBytesAttr));
    if (op.getPeers()) {
      Value parity = arith::AndIOp::create(b, loc, epoch, i32(loc, 1));
      Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), parity);
      Value half =
          arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(moduleBytes(kPeerHalfBytesAttr)));
      launch.half_offset = arith::MulIOp::create(b, loc, wide, half);
      launch.peers = op.getPeers();
      launch.local = peerBuffer(loc, launch, op.getRank());
      for (mlir::Operation* user : op->getUsers()) {
        auto put = mlir::dyn_cast<PutOp>(user);
        if (put && constantRank(put)) rankBuffer(put, launch);
      }
    }
    launches_[op] = launch;
  }

  Value peerBuffer(Location loc, const Launch& launch, Value rank) {
    Value byte = arith::ShLIOp::create(b, loc, rank, i32(loc, 3));
    Value base = ScalarLoadOp::create(b, loc, b.getI64Type(), launch.peers, byte);
    Value half = arith::AddIOp::create(b, loc, base, launch.half_offset);
    return buffer(loc, half, moduleBytes(kPeerHalfBytesAttr));
  }

  static std::optional<size_t> constantRank(PutOp put) {
    llvm::APInt constant;
    if (!put.getRank() || !mlir::matchPattern(put.getRank(), mlir::m_ConstantInt(&constant)) ||
        constant.uge(kRanks)) {
      return std::nullopt;
    }
    return constant.getZExtValue();
  }

  /// The buffer of the put's rank; a rank known at compile time has one for the whole kernel.
  Value rankBuffer(PutOp put, Launch& launch) {
    std::optional<size_t> rank = constantRank(put);
    if (!rank) return peerBuffer(put.getLoc(), launch, put.getRank());
    Value& ready = launch.ranks[*rank];
    if (!ready) {
      Location loc = put.getLoc();
      ready = peerBuffer(loc, launch, i32(loc, static_cast<int64_t>(*rank)));
    }
    return ready;
  }

  Launch& launchOf(Value handoffs) { return launches_.find(handoffs.getDefiningOp())->second; }

  /// Byte offset of word `index` of a tagged region.
  Value pairOffset(Location loc, RegionOp region, Value index) {
    Value bytes = arith::MulIOp::create(b, loc, index, i32(loc, kPairBytes));
    return add(loc, bytes, static_cast<int64_t>(*region.getOffset()));
  }

  Value toWord(Location loc, Value value) {
    if (value.getType().isInteger(32)) return value;
    if (value.getType().isF32()) return arith::BitcastOp::create(b, loc, b.getI32Type(), value);
    auto one = mlir::VectorType::get(1, b.getI32Type());
    Value word = mlir::vector::BitCastOp::create(b, loc, one, value);
    return mlir::vector::ExtractOp::create(b, loc, word, 0);
  }

  Value fromWord(Location loc, Value word, mlir::Type type) {
    if (type.isInteger(32)) return word;
    if (type.isF32()) return arith::BitcastOp::create(b, loc, type, word);
    auto one = mlir::VectorType::get(1, b.getI32Type());
    Value single = mlir::vector::FromElementsOp::create(b, loc, one, word);
    return mlir::vector::BitCastOp::create(b, loc, type, single);
  }

  Location named(llvm::StringRef verb, llvm::StringRef region, Location loc) {
    return mlir::NameLoc::get(b.getStringAttr(verb + " " + region), loc);
  }

  /// A word never leaves without its tag: one store of one or two pairs.
  void storePairs(Location loc, const Launch& launch, RegionOp region, Value buffer, Value index,
                  mlir::ValueRange values) {
    llvm::SmallVector<Value> words;
    for (Value value : values) {
      words.push_back(toWord(loc, value));
      words.push_back(launch.tag);
    }
    auto type = mlir::VectorType::get(static_cast<int64_t>(words.size()), b.getI32Type());
    Value packed = mlir::vector::FromElementsOp::create(b, loc, type, words);
    StoreOp::create(b, loc, packed, buffer, pairOffset(loc, region, index),
                    scopeOf(region.getSpace()));
  }

  void lower(PutOp op) {
    b.setInsertionPoint(op);
    Launch& launch = launchOf(op.getHandoffs());
    RegionOp region = lookupRegion(op, op.getRegionAttr());
    Value buffer = op.getRank() ? rankBuffer(op, launch) : launch.scratch;
    storePairs(named("put", region.getSymName(), op.getLoc()), launch, region, buffer,
               op.getIndex(), op.getValues());
    op.erase();
  }

  /// A compiler-only fence: no load may leave the loop or pass it, no instruction is emitted.
  void pin(Location loc) {
    mlir::LLVM::FenceOp::create(b, loc, mlir::LLVM::AtomicOrdering::acq_rel, "singlethread");
  }

  /// The tag in a vector register. Lanes that load one address need not see one value while it is
  /// written, but LLVM takes such a load for uniform, and would leave a loop as soon as any lane
  /// sees the tag: a tag that it cannot know to be uniform keeps the comparison lane by lane.
  Value laneTag(Location loc, Value tag) {
    auto dialect = mlir::LLVM::AsmDialectAttr::get(b.getContext(), mlir::LLVM::AsmDialect::AD_ATT);
    return mlir::LLVM::InlineAsmOp::create(b, loc, tag.getType(), tag, "", "=v,0",
                                           /*has_side_effects=*/false, /*is_align_stack=*/false,
                                           mlir::LLVM::TailCallKind::None, dialect,
                                           mlir::ArrayAttr())
        .getResult(0);
  }

  /// Loads one batch; appends its value words and returns whether any tag is stale, as an i1.
  Value loadBatch(PollOp op, Value expected, llvm::ArrayRef<Value> offsets,
                  llvm::SmallVectorImpl<Value>& words) {
    Launch& launch = launchOf(op.getHandoffs());
    llvm::SmallVector<std::pair<Value, Location>> batch;
    for (auto [symbol, offset, count] : llvm::zip(
             op.getRegions().getAsRange<mlir::FlatSymbolRefAttr>(), offsets, op.getCounts())) {
      RegionOp region = lookupRegion(op, symbol);
      Location loc = named("poll", region.getSymName(), op.getLoc());
      Value buffer = region.getSpace() == Space::peer ? launch.local : launch.scratch;
      auto type = mlir::VectorType::get(2 * count, b.getI32Type());
      Value pairs = LoadOp::create(b, loc, type, buffer, offset, scopeOf(region.getSpace()), false);
      batch.emplace_back(pairs, loc);
    }
    Value stale;
    for (auto [pairs, loc] : batch) {
      int64_t size = mlir::cast<mlir::VectorType>(pairs.getType()).getNumElements();
      for (int64_t i = 0; i < size; i += 2) {
        words.push_back(mlir::vector::ExtractOp::create(b, loc, pairs, i));
        Value tag = mlir::vector::ExtractOp::create(b, loc, pairs, i + 1);
        Value differs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, tag, expected);
        stale = stale ? arith::OrIOp::create(b, loc, stale, differs).getResult() : differs;
      }
    }
    return stale;
  }

  /// The loop is left by the whole wave at once: a ballot keeps its branch scalar.
  void lower(PollOp op) {
    b.setInsertionPoint(op);
    llvm::StringRef first = mlir::cast<mlir::FlatSymbolRefAttr>(op.getRegions()[0]).getValue();
    Location loc = named("poll", first, op.getLoc());
    llvm::SmallVector<Value> offsets;
    for (auto [symbol, index] :
         llvm::zip(op.getRegions().getAsRange<mlir::FlatSymbolRefAttr>(), op.getIndices())) {
      offsets.push_back(pairOffset(loc, lookupRegion(op, symbol), index));
    }
    llvm::SmallVector<mlir::Type> types(op.getWords().size(), b.getI32Type());
    llvm::SmallVector<Location> locations(types.size(), loc);
    Value tag = laneTag(loc, launchOf(op.getHandoffs()).tag);
    auto loop = scf::WhileOp::create(b, loc, types, mlir::ValueRange{});
    b.createBlock(&loop.getBefore());
    llvm::SmallVector<Value> words;
    Value stale = loadBatch(op, tag, offsets, words);
    pin(loc);
    Value lanes = mlir::ROCDL::BallotOp::create(b, loc, b.getI64Type(), stale);
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    Value again = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, lanes, zero);
    scf::ConditionOp::create(b, loc, again, words);
    b.createBlock(&loop.getAfter(), {}, types, locations);
    mlir::ROCDL::SSleepOp::create(b, loc, b.getI32IntegerAttr(1));
    scf::YieldOp::create(b, loc);
    b.setInsertionPointAfter(loop);
    for (auto [word, value] : llvm::zip(op.getWords(), loop.getResults())) {
      word.replaceAllUsesWith(fromWord(loc, value, word.getType()));
    }
    op.erase();
  }

  void lower(PublishOp op) {
    b.setInsertionPoint(op);
    RegionOp region = lookupRegion(op, op.getRegionAttr());
    Location loc = named("publish", region.getSymName(), op.getLoc());
    pin(loc);
    mlir::ROCDL::SWaitcntOp::create(b, loc, b.getI32IntegerAttr(kWaitVmcnt0));
    BarrierOp::create(b, loc);
    int64_t lanes = module_->getAttrOfType<mlir::IntegerAttr>(kWorkgroupAttr).getInt();
    Value thread = ThreadIdOp::create(b, loc, b.getI32Type(), static_cast<uint32_t>(lanes));
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, i32(loc, 0));
    auto put = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(put.thenBlock());
    Launch& launch = launchOf(op.getHandoffs());
    storePairs(loc, launch, region, launch.scratch, op.getIndex(), i32(loc, 1));
    op.erase();
  }

  mlir::ModuleOp module_;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Operation*, Launch> launches_;
};

struct LowerHandoffsPass : impl::LowerHandoffsBase<LowerHandoffsPass> {
  void runOnOperation() override {
    if (failed(HandoffLowering(getOperation()).run()) ||
        failed(requireNone<HandoffsOp, PutOp, PollOp, PublishOp, RegionOp>(getOperation(),
                                                                           getArgument()))) {
      signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace baton::ir
