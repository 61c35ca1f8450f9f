// From: baton.butterfly, baton.wave_scan. To: rocdl cross-lane ops and the inlined combiners.
// Precondition: none.
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/lower/closed_door.h"

namespace baton::ir {
#define GEN_PASS_DEF_LOWERLANES
#include "passes/Passes.h.inc"

namespace {

/// Control words of DPP, as the CDNA ISA documents number them.
enum Dpp : uint32_t {
  quad_perm_1032 = 0xB1,    ///< lane ^ 1
  quad_perm_2301 = 0x4E,    ///< lane ^ 2
  quad_perm_3210 = 0x1B,    ///< lane ^ 3
  row_shr = 0x110,          ///< + n: from n lanes below, within a row of 16
  row_ror = 0x120,          ///< + n: rotate within a row of 16
  row_half_mirror = 0x141,  ///< lane ^ 7
  row_bcast15 = 0x142,      ///< a row's last lane to the next row
  row_bcast31 = 0x143,      ///< lane 31 to rows 2 and 3
};

/// ds_swizzle in bit-mask mode: lane & 31 xor 16 within each half of the wave.
constexpr int32_t kSwizzleXor16 = (0x10 << 10) | 0x1F;

/// One lane's value beside its partner's; which is which differs from lane to lane.
struct Pair {
  mlir::Value first, second;
};

class LaneLowering {
 public:
  LaneLowering(mlir::OpBuilder& builder, const Target& target) : b(builder), target_(target) {}

  /// `value` of this lane and of lane ^ offset.
  Pair exchange(mlir::Location loc, mlir::Value value, int offset) {
    mlir::Value word = toWord(loc, value);
    Pair pair = offset >= 16 && target_.has_permlane_swap ? swap(loc, word, offset)
                                                          : Pair{word, partner(loc, word, offset)};
    return {fromWord(loc, pair.first, value.getType()),
            fromWord(loc, pair.second, value.getType())};
  }

  /// Inclusive sum over the wave: within rows of 16, then across rows.
  mlir::Value scan(mlir::Location loc, mlir::Value value) {
    for (uint32_t distance = 1; distance < 16; distance *= 2) {
      value = addShifted(loc, value, row_shr + distance, 0xF);
    }
    value = addShifted(loc, value, row_bcast15, 0xA);  // into rows 1 and 3
    return addShifted(loc, value, row_bcast31, 0xC);   // into rows 2 and 3
  }

 private:
  mlir::Value constant(mlir::Location loc, int32_t value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }

  mlir::Value toWord(mlir::Location loc, mlir::Value value) {
    if (value.getType().isInteger(32)) return value;
    return mlir::arith::BitcastOp::create(b, loc, b.getI32Type(), value);
  }

  mlir::Value fromWord(mlir::Location loc, mlir::Value word, mlir::Type type) {
    if (word.getType() == type) return word;
    return mlir::arith::BitcastOp::create(b, loc, type, word);
  }

  /// Lanes whose source is off, or that the row mask leaves out, read zero.
  mlir::Value dpp(mlir::Location loc, mlir::Value word, uint32_t control, uint32_t row_mask = 0xF) {
    bool whole = row_mask == 0xF;
    mlir::Value old =
        whole ? mlir::LLVM::PoisonOp::create(b, loc, word.getType()).getResult() : constant(loc, 0);
    return mlir::ROCDL::DPPUpdateOp::create(b, loc, word.getType(), old, word, control, row_mask,
                                            0xF,
                                            /*boundCtrl=*/true);
  }

  mlir::Value addShifted(mlir::Location loc, mlir::Value value, uint32_t control,
                         uint32_t row_mask) {
    return mlir::arith::AddIOp::create(b, loc, value, dpp(loc, value, control, row_mask));
  }

  mlir::Value partner(mlir::Location loc, mlir::Value word, int offset) {
    switch (offset) {
      case 1:
        return dpp(loc, word, quad_perm_1032);
      case 2:
        return dpp(loc, word, quad_perm_2301);
      case 4:
        return dpp(loc, dpp(loc, word, row_half_mirror), quad_perm_3210);
      case 8:
        return dpp(loc, word, row_ror + 8);
      case 16:
        return mlir::ROCDL::DsSwizzleOp::create(b, loc, b.getI32Type(), word,
                                                constant(loc, kSwizzleXor16));
      default:
        return bpermute32(loc, word);
    }
  }

  mlir::Value bpermute32(mlir::Location loc, mlir::Value word) {
    mlir::Type i32 = b.getI32Type();
    mlir::Value all = constant(loc, -1), zero = constant(loc, 0);
    mlir::Value low = mlir::ROCDL::MbcntLoOp::create(b, loc, i32, all, zero, mlir::ArrayAttr(),
                                                     mlir::ArrayAttr());
    mlir::Value lane =
        mlir::ROCDL::MbcntHiOp::create(b, loc, i32, all, low, mlir::ArrayAttr(), mlir::ArrayAttr());
    mlir::Value other = mlir::arith::XOrIOp::create(b, loc, lane, constant(loc, 32));
    mlir::Value byte = mlir::arith::ShLIOp::create(b, loc, other, constant(loc, 2));
    return mlir::ROCDL::DsBpermuteOp::create(b, loc, i32, byte, word);
  }

  /// A swap of the word with itself leaves each lane both values of its pair, in one instruction.
  Pair swap(mlir::Location loc, mlir::Value word, int offset) {
    mlir::Type i32 = b.getI32Type();
    mlir::Type both = mlir::LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32});
    mlir::Value swapped;
    if (offset == 16) {
      swapped = mlir::ROCDL::Permlane16SwapOp::create(b, loc, both, word, word, false, false);
    } else {
      swapped = mlir::ROCDL::Permlane32SwapOp::create(b, loc, both, word, word, false, false);
    }
    return {mlir::LLVM::ExtractValueOp::create(b, loc, swapped, 0),
            mlir::LLVM::ExtractValueOp::create(b, loc, swapped, 1)};
  }

  mlir::OpBuilder& b;
  const Target& target_;
};

void lowerButterfly(ButterflyOp op, const Target& target) {
  mlir::OpBuilder b(op);
  LaneLowering lanes(b, target);
  mlir::Block& combiner = op.getCombiner().front();
  llvm::SmallVector<mlir::Value> values(op.getInputs());
  for (int32_t offset : op.getOffsets()) {
    mlir::IRMapping map;
    size_t count = values.size();
    for (size_t i = 0; i < count; ++i) {
      Pair pair = lanes.exchange(op.getLoc(), values[i], offset);
      map.map(combiner.getArgument(i), pair.first);
      map.map(combiner.getArgument(count + i), pair.second);
    }
    for (mlir::Operation& inner : combiner.without_terminator()) b.clone(inner, map);
    for (size_t i = 0; i < count; ++i) {
      values[i] = map.lookupOrDefault(combiner.getTerminator()->getOperand(i));
    }
  }
  op->replaceAllUsesWith(values);
  op.erase();
}

struct LowerLanesPass : impl::LowerLanesBase<LowerLanesPass> {
  void runOnOperation() override {
    const Target* target = targetOf(getOperation());
    if (!target) return signalPassFailure();
    llvm::SmallVector<ButterflyOp> butterflies;
    llvm::SmallVector<WaveScanOp> scans;
    getOperation()->walk([&](mlir::Operation* op) {
      if (auto butterfly = mlir::dyn_cast<ButterflyOp>(op)) butterflies.push_back(butterfly);
      if (auto scan = mlir::dyn_cast<WaveScanOp>(op)) scans.push_back(scan);
    });
    for (ButterflyOp op : butterflies) lowerButterfly(op, *target);
    for (WaveScanOp op : scans) {
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(LaneLowering(b, *target).scan(op.getLoc(), op.getInput()));
      op.erase();
    }
    if (failed(requireNone<ButterflyOp, WaveScanOp>(getOperation(), getArgument()))) {
      signalPassFailure();
    }
  }
};

}  // namespace
}  // namespace baton::ir
