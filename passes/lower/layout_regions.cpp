// From: baton.region without offsets. To: baton.region with offsets, and the module's manifest of
// regions. Precondition: none.
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::ir {
#define GEN_PASS_DEF_LAYOUTREGIONS
#include "passes/Passes.h.inc"

namespace {

/// Two regions never share a cache line (128 bytes) or a 256-byte channel stripe.
constexpr int64_t kRegionAlignment = 256;
/// One buffer resource spans all regions of a space.
constexpr int64_t kMaxSpaceBytes = 0xFFFFFFFFLL;

llvm::StringRef elementName(mlir::Type element) {
  if (element.isF32()) return "f32";
  return element.isBF16() ? "bf16" : "i32";
}

struct LayoutRegionsPass : impl::LayoutRegionsBase<LayoutRegionsPass> {
  void runOnOperation() override {
    mlir::Builder builder(&getContext());
    int64_t end[2] = {0, 0};
    llvm::SmallVector<mlir::Attribute> manifest;
    for (RegionOp region : getOperation().getOps<RegionOp>()) {
      int64_t& next = end[static_cast<int>(region.getSpace())];
      region.setOffset(next);
      manifest.push_back(builder.getDictionaryAttr({
          builder.getNamedAttr("name", region.getSymNameAttr()),
          builder.getNamedAttr("space", builder.getStringAttr(stringifySpace(region.getSpace()))),
          builder.getNamedAttr("protocol",
                               builder.getStringAttr(stringifyProtocol(region.getProtocol()))),
          builder.getNamedAttr("dtype", builder.getStringAttr(elementName(region.getElement()))),
          builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(region.getShape())),
          builder.getNamedAttr("offset", builder.getI64IntegerAttr(next)),
          builder.getNamedAttr("bytes", builder.getI64IntegerAttr(region.bytes())),
      }));
      next = llvm::alignTo(next + region.bytes(), kRegionAlignment);
      if (next > kMaxSpaceBytes) {
        region.emitError() << "the " << stringifySpace(region.getSpace()) << " regions take "
                           << next << " bytes up to the end of '" << region.getSymName()
                           << "': a buffer resource spans at most " << kMaxSpaceBytes;
        return signalPassFailure();
      }
    }
    mlir::ModuleOp module = getOperation();
    module->setAttr(kRegionsAttr, builder.getArrayAttr(manifest));
    module->setAttr(kScratchBytesAttr,
                    builder.getI64IntegerAttr(end[static_cast<int>(Space::scratch)]));
    module->setAttr(kPeerHalfBytesAttr,
                    builder.getI64IntegerAttr(end[static_cast<int>(Space::peer)]));
  }
};

}  // namespace
}  // namespace baton::ir
