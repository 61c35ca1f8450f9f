#include "passes/lower/handoff_memory.h"

namespace baton::ir {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::Value;

namespace {

/// The rank that a put names by a constant.
std::optional<size_t> constantRank(Value rank) {
  llvm::APInt constant;
  if (!rank || !mlir::matchPattern(rank, mlir::m_ConstantInt(&constant)) || constant.uge(kRanks)) {
    return std::nullopt;
  }
  return constant.getZExtValue();
}

Value rankOf(mlir::Operation* op) {
  if (auto put = mlir::dyn_cast<PutOp>(op)) return put.getRank();
  if (auto put = mlir::dyn_cast<PutSentOp>(op)) return put.getRank();
  return {};
}

}  // namespace

int64_t HandoffMemory::moduleBytes(llvm::StringRef name) {
  return std::max<int64_t>(1, module_->getAttrOfType<mlir::IntegerAttr>(name).getInt());
}

Value HandoffMemory::i32(Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value HandoffMemory::i64(Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

Value HandoffMemory::add(Location loc, Value value, int64_t constant) {
  if (constant == 0) return value;
  return arith::AddIOp::create(b, loc, value, i32(loc, constant));
}

Value HandoffMemory::buffer(Location loc, Value address, int64_t bytes) {
  return BufferOp::create(b, loc, BufferType::get(b.getContext()), address, bytes);
}

void HandoffMemory::open(HandoffsOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  Launch launch;
  Value epoch = ScalarLoadOp::create(b, loc, b.getI32Type(), op.getEpoch(), i32(loc, 0));
  Value turn = arith::AndIOp::create(b, loc, epoch, i32(loc, kTagEpochs - 1));
  Value tag = arith::ShLIOp::create(b, loc, turn, i32(loc, llvm::Log2_32(kTagSlots)));
  launch.tag = add(loc, arith::AddIOp::create(b, loc, tag, op.getSlot()), 1);
  launch.scratch_address = op.getScratch();
  launch.scratch = buffer(loc, op.getScratch(), moduleBytes(kScratchBytesAttr));
  launch.diag = op.getDiag();
  if (op.getPeers()) {
    Value parity = arith::AndIOp::create(b, loc, epoch, i32(loc, 1));
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), parity);
    launch.half_offset =
        arith::MulIOp::create(b, loc, wide, i64(loc, moduleBytes(kPeerHalfBytesAttr)));
    launch.peers = op.getPeers();
    launch.local = peerBuffer(loc, launch, op.getRank());
    for (mlir::Operation* user : op->getUsers()) {
      Value rank = rankOf(user);
      if (constantRank(rank)) bufferOfPut(user->getLoc(), launch, rank);
    }
  }
  launches_[op] = launch;
}

Launch& HandoffMemory::launchOf(Value handoffs) {
  return launches_.find(handoffs.getDefiningOp())->second;
}

void HandoffMemory::eraseOpened() {
  for (auto& [open, launch] : launches_) open->erase();
}

Value HandoffMemory::peerBuffer(Location loc, const Launch& launch, Value rank) {
  Value byte = arith::ShLIOp::create(b, loc, rank, i32(loc, 3));
  Value base = ScalarLoadOp::create(b, loc, b.getI64Type(), launch.peers, byte);
  Value half = arith::AddIOp::create(b, loc, base, launch.half_offset);
  return buffer(loc, half, moduleBytes(kPeerHalfBytesAttr));
}

Value HandoffMemory::bufferOfPut(Location loc, Launch& launch, Value rank) {
  if (!rank) return launch.scratch;
  std::optional<size_t> constant = constantRank(rank);
  if (!constant) return peerBuffer(loc, launch, rank);
  // A rank known at compile time has one buffer for the whole kernel.
  Value& ready = launch.ranks[*constant];
  if (!ready) ready = peerBuffer(loc, launch, i32(loc, static_cast<int64_t>(*constant)));
  return ready;
}

Value HandoffMemory::bufferOfRows(Location loc, const Launch& launch, RegionOp region) {
  Value offset = i64(loc, static_cast<int64_t>(*region.getOffset()));
  Value start =
      mlir::LLVM::GEPOp::create(b, loc, launch.scratch_address.getType(), b.getI8Type(),
                                launch.scratch_address, llvm::ArrayRef<mlir::LLVM::GEPArg>{offset});
  return buffer(loc, start, region.bytes());
}

Value HandoffMemory::bufferOfPoll(Launch& launch, RegionOp region) {
  return region.getSpace() == Space::peer ? launch.local : launch.scratch;
}

Value HandoffMemory::offsetOf(Location loc, RegionOp region, Value index) {
  Value bytes = arith::MulIOp::create(b, loc, index, i32(loc, region.wordBytes()));
  return add(loc, bytes, static_cast<int64_t>(*region.getOffset()));
}

Value HandoffMemory::toWord(Location loc, Value value) {
  if (value.getType().isInteger(32)) return value;
  if (value.getType().isF32()) return arith::BitcastOp::create(b, loc, b.getI32Type(), value);
  auto one = mlir::VectorType::get(1, b.getI32Type());
  Value word = mlir::vector::BitCastOp::create(b, loc, one, value);
  return mlir::vector::ExtractOp::create(b, loc, word, 0);
}

Value HandoffMemory::fromWord(Location loc, Value word, mlir::Type type) {
  if (type.isInteger(32)) return word;
  if (type.isF32()) return arith::BitcastOp::create(b, loc, type, word);
  auto one = mlir::VectorType::get(1, b.getI32Type());
  Value single = mlir::vector::FromElementsOp::create(b, loc, one, word);
  return mlir::vector::BitCastOp::create(b, loc, type, single);
}

Location HandoffMemory::named(llvm::StringRef verb, RegionOp region, Location loc) {
  return mlir::NameLoc::get(b.getStringAttr(verb + " " + region.getSymName()), loc);
}

void HandoffMemory::pin(Location loc) {
  mlir::LLVM::FenceOp::create(b, loc, mlir::LLVM::AtomicOrdering::acq_rel, "singlethread");
}

}  // namespace baton::ir
