// Verifiers and interfaces of the ops. No assert stands before a diagnostic for the same condition.
#include "mlir/IR/Builders.h"
#include "passes/dialect/BatonDialect.h"

#define GET_OP_CLASSES
#include "passes/dialect/BatonOps.cpp.inc"

namespace baton::ir {

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

namespace {

void inferBelow(mlir::Value result, int64_t count, mlir::SetIntRangeFn set) {
  set(result,
      mlir::ConstantIntRanges::fromUnsigned(llvm::APInt(32, 0), llvm::APInt(32, count - 1)));
}

/// The region that a hand-off op names, or null with a diagnostic.
RegionOp requireRegion(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol) {
  RegionOp region = lookupRegion(op, symbol);
  if (!region) op->emitOpError() << "names '" << symbol.getValue() << "', which is no region";
  return region;
}

/// Hand-offs are opened in the kernel, with peers when the region lies there.
LogicalResult requireHandoffs(mlir::Operation* op, mlir::Value handoffs, RegionOp region) {
  auto open = handoffs.getDefiningOp<HandoffsOp>();
  if (!open) return op->emitOpError("uses hand-offs that no baton.handoffs opened");
  if (region.getSpace() != Space::peer || open.getPeers()) return success();
  return op->emitOpError() << "uses peer region '" << region.getSymName()
                           << "', but its hand-offs were opened without peers";
}

/// Only a peer region is put into at a rank.
LogicalResult requireRank(mlir::Operation* op, mlir::Value rank, RegionOp region) {
  if ((region.getSpace() == Space::peer) == static_cast<bool>(rank)) return success();
  return op->emitOpError() << (rank ? "names a rank, but region '" : "needs a rank: region '")
                           << region.getSymName() << "' lies in the "
                           << stringifySpace(region.getSpace()) << " space";
}

/// A word of `region` is read as the region's own type or raw, as i32.
LogicalResult requireReadAs(mlir::Operation* op, RegionOp region, mlir::Type type) {
  if (type == region.wordType() || type.isInteger(32)) return success();
  return op->emitOpError() << "reads region '" << region.getSymName() << "' as " << type
                           << ": expected " << region.wordType() << " or i32";
}

LogicalResult requireLds(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol, mlir::Type type) {
  if (!lookupLds(op, symbol)) {
    return op->emitOpError() << "names '" << symbol.getValue() << "', which is no LDS range";
  }
  auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  mlir::Type element = vector ? vector.getElementType() : type;
  if (!element.isIntOrFloat()) {
    return op->emitOpError() << "moves " << type << ": expected a number or a vector of numbers";
  }
  int64_t bytes = bytesOf(type);
  if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) return success();
  return op->emitOpError() << "moves " << bytes << " bytes: expected 1, 2, 4, 8 or 16";
}

}  // namespace

void ThreadIdOp::inferResultRanges(llvm::ArrayRef<mlir::ConstantIntRanges>,
                                   mlir::SetIntRangeFn set) {
  inferBelow(getResult(), getCount(), set);
}

void CtaIdOp::inferResultRanges(llvm::ArrayRef<mlir::ConstantIntRanges>, mlir::SetIntRangeFn set) {
  inferBelow(getResult(), getCount(), set);
}

LogicalResult StageOp::verify() {
  if (getStage().empty()) return emitOpError("needs a name");
  auto yield = mlir::dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield) return emitOpError("must end in baton.yield");
  if (yield.getOperandTypes() != getResultTypes()) {
    return emitOpError() << "'" << getStage() << "' yields other types than it returns";
  }
  if (mlir::Operation* outer = (*this)->getParentOfType<StageOp>()) {
    return emitOpError() << "'" << getStage() << "' stands inside stage '" << stageOf(outer)
                         << "': stages do not nest";
  }
  return success();
}

LogicalResult BufferOp::verify() {
  if (getBytes() >= 1 && getBytes() <= 0xFFFFFFFFLL) return success();
  return emitOpError() << "spans " << static_cast<int64_t>(getBytes())
                       << " bytes: a buffer resource spans 1 .. 4294967295";
}

LogicalResult LdsOp::verify() {
  int64_t offset = getOffset(), bytes = getBytes();
  if (offset < 0 || offset % 16 != 0) {
    return emitOpError() << "'" << getSymName() << "' starts at byte " << offset
                         << ": expected a multiple of 16 that is not negative";
  }
  if (bytes < 1) return emitOpError() << "'" << getSymName() << "' has " << bytes << " bytes";
  return success();
}

LogicalResult LdsLoadOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  return requireLds(*this, getLdsAttr(), getValue().getType());
}

LogicalResult LdsStoreOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  return requireLds(*this, getLdsAttr(), getValue().getType());
}

LogicalResult ButterflyOp::verify() {
  if (getInputs().empty()) return emitOpError("needs at least one value");
  if (getOffsets().empty()) return emitOpError("needs at least one offset");
  for (int32_t offset : getOffsets()) {
    if (offset < 1 || offset > 32 || !llvm::isPowerOf2_32(offset)) {
      return emitOpError() << "offset " << offset << ": expected 1, 2, 4, 8, 16 or 32";
    }
  }
  mlir::Block& combiner = getCombiner().front();
  if (combiner.getNumArguments() != 2 * getInputs().size()) {
    return emitOpError() << "combiner takes " << combiner.getNumArguments()
                         << " values: expected two for each of the " << getInputs().size();
  }
  for (auto [i, argument] : llvm::enumerate(combiner.getArguments())) {
    mlir::Type expected = getInputs()[i % getInputs().size()].getType();
    if (argument.getType() != expected) {
      return emitOpError() << "combiner argument " << i << " is " << argument.getType()
                           << ": expected " << expected;
    }
  }
  auto yield = mlir::dyn_cast<YieldOp>(combiner.getTerminator());
  if (!yield || yield.getOperandTypes() != getInputs().getTypes()) {
    return emitOpError("combiner must yield one value of each input's type");
  }
  return success();
}

int64_t RegionOp::elements() {
  int64_t count = 1;
  for (int64_t size : getShape()) count *= size;
  return count;
}

int64_t RegionOp::words() { return getElement().isBF16() ? elements() / 2 : elements(); }

int64_t RegionOp::wordBytes() {
  return getProtocol() == Protocol::tagged ? kPairBytes : kWordBytes;
}

int64_t RegionOp::bytes() { return wordBytes() * words(); }

mlir::Type RegionOp::wordType() {
  if (getElement().isBF16()) return mlir::VectorType::get(2, getElement());
  return getElement();
}

LogicalResult RegionOp::verify() {
  mlir::Type element = getElement();
  if (!element.isF32() && !element.isInteger(32) && !element.isBF16()) {
    return emitOpError() << "'" << getSymName() << "' holds " << element
                         << ": expected f32, i32 or bf16";
  }
  if (getShape().empty()) return emitOpError() << "'" << getSymName() << "' has no shape";
  constexpr int64_t kMaxBytes = 0xFFFFFFFFLL;
  int64_t count = 1;
  for (auto [axis, size] : llvm::enumerate(getShape())) {
    if (size < 1) {
      return emitOpError() << "'" << getSymName() << "' has size " << size << " on axis " << axis;
    }
    if (size > kMaxBytes / count) {
      return emitOpError() << "'" << getSymName() << "' has more than " << kMaxBytes << " elements";
    }
    count *= size;
  }
  if (getProtocol() == Protocol::sentinel) {
    const bool blocks = getShape().size() == 3 && getShape().back() % kSentinelBlockColumns == 0;
    if (!element.isBF16() || !blocks) {
      return emitOpError() << "'" << getSymName()
                           << "' is a sentinel region: expected bf16 of shape "
                           << "[sources, tokens, width], the width a multiple of "
                           << kSentinelBlockColumns;
    }
  }
  if (getProtocol() == Protocol::plain && getSpace() != Space::scratch) {
    return emitOpError() << "'" << getSymName() << "' is plain: its rows lie in scratch";
  }
  if (element.isBF16() && getShape().back() % 2 != 0) {
    return emitOpError() << "'" << getSymName() << "' has an odd row of " << getShape().back()
                         << " bf16: a word holds two";
  }
  if (bytes() > kMaxBytes) {
    return emitOpError() << "'" << getSymName() << "' takes " << bytes()
                         << " bytes: a buffer resource spans at most " << kMaxBytes;
  }
  return success();
}

LogicalResult HandoffsOp::verify() {
  if (static_cast<bool>(getPeers()) != static_cast<bool>(getRank())) {
    return emitOpError("takes peers and rank together");
  }
  if ((*this)->getParentOp()->hasAttr(kKernelAttr)) return success();
  return emitOpError("must stand at the top of the kernel, outside stages and branches");
}

LogicalResult TimelineOp::verify() {
  if ((*this)->getParentOp()->hasAttr(kKernelAttr)) return success();
  return emitOpError("must stand at the top of the kernel, outside stages and branches");
}

LogicalResult RowsOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  RegionOp region = requireRegion(*this, getRegionAttr());
  if (!region || failed(requireHandoffs(*this, getHandoffs(), region))) return failure();
  if (region.getProtocol() == Protocol::plain) return success();
  return emitOpError() << "opens region '" << region.getSymName()
                       << "' as plain, but it is declared "
                       << stringifyProtocol(region.getProtocol());
}

LogicalResult PutOp::verify() {
  if (getValues().empty() || getValues().size() > kMaxWords) {
    return emitOpError() << "puts " << getValues().size() << " words: one store holds 1 or 2";
  }
  return success();
}

LogicalResult PutOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  RegionOp region = requireRegion(*this, getRegionAttr());
  if (!region || failed(requireRank(*this, getRank(), region))) return failure();
  mlir::Type word = getRaw() ? mlir::IntegerType::get(getContext(), 32) : region.wordType();
  for (mlir::Value value : getValues()) {
    if (value.getType() != word) {
      return emitOpError() << "puts " << value.getType() << " into region '" << region.getSymName()
                           << "': expected " << word;
    }
  }
  return requireHandoffs(*this, getHandoffs(), region);
}

LogicalResult PutSentOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  RegionOp region = requireRegion(*this, getRegionAttr());
  if (!region || failed(requireRank(*this, getRank(), region))) return failure();
  mlir::Type type = getValue().getType();
  if (type != region.wordType() && !type.isInteger(32)) {
    return emitOpError() << "puts " << type << " into region '" << region.getSymName()
                         << "': expected " << region.wordType() << " or i32";
  }
  return requireHandoffs(*this, getHandoffs(), region);
}

LogicalResult PollOp::verify() {
  size_t specs = getRegions().size();
  if (specs == 0 || specs > kMaxSpecs) {
    return emitOpError() << "has " << specs << " specs: a batch holds 1 .. " << kMaxSpecs;
  }
  if (getIndices().size() != specs || getCounts().size() != specs) {
    return emitOpError() << "has " << specs << " regions, " << getIndices().size()
                         << " indices and " << getCounts().size()
                         << " counts: expected as many of each";
  }
  size_t words = 0;
  for (int32_t count : getCounts()) {
    if (count != 1 && count != 2)
      return emitOpError() << "polls " << count << " words: expected 1 or 2";
    words += count;
  }
  if (getWords().size() == words) return success();
  return emitOpError() << "returns " << getWords().size() << " words of " << words;
}

LogicalResult PollOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  size_t word = 0;
  for (auto [symbol, count] :
       llvm::zip(getRegions().getAsRange<mlir::FlatSymbolRefAttr>(), getCounts())) {
    RegionOp region = requireRegion(*this, symbol);
    if (!region || failed(requireHandoffs(*this, getHandoffs(), region))) return failure();
    for (int32_t i = 0; i < count; ++i, ++word) {
      if (failed(requireReadAs(*this, region, getWords()[word].getType()))) return failure();
    }
  }
  return success();
}

LogicalResult PollSentOp::verify() {
  size_t specs = getRegions().size();
  if (specs == 0 || specs > PollOp::kMaxSpecs) {
    return emitOpError() << "has " << specs << " specs: a batch holds 1 .. " << PollOp::kMaxSpecs;
  }
  if (getIndices().size() == specs && getWords().size() == specs) return success();
  return emitOpError() << "has " << specs << " regions, " << getIndices().size() << " indices and "
                       << getWords().size() << " words: expected as many of each";
}

LogicalResult PollSentOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  for (auto [symbol, word] :
       llvm::zip(getRegions().getAsRange<mlir::FlatSymbolRefAttr>(), getWords())) {
    RegionOp region = requireRegion(*this, symbol);
    if (!region || failed(requireHandoffs(*this, getHandoffs(), region)) ||
        failed(requireReadAs(*this, region, word.getType()))) {
      return failure();
    }
  }
  return success();
}

LogicalResult RearmOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  RegionOp region = requireRegion(*this, getRegionAttr());
  return region ? requireHandoffs(*this, getHandoffs(), region) : failure();
}

LogicalResult PublishOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  RegionOp region = requireRegion(*this, getRegionAttr());
  if (!region) return failure();
  if (region.getSpace() != Space::scratch) {
    return emitOpError() << "raises a flag in region '" << region.getSymName()
                         << "': a flag lies in the scratch space";
  }
  if (!region.getElement().isInteger(32)) {
    return emitOpError() << "raises a flag in region '" << region.getSymName()
                         << "': a flag region holds i32";
  }
  return requireHandoffs(*this, getHandoffs(), region);
}

}  // namespace baton::ir
