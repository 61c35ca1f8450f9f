// From: baton.timeline. To: clock reads at every stage boundary, an LDS range that keeps them, a
// flush at the kernel's end, and the manifest of the stages. Precondition: none.
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/dialect/BatonDialect.h"
#include "passes/lower/closed_door.h"

namespace baton::ir {
#define GEN_PASS_DEF_STAMPSTAGES
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::Value;

constexpr llvm::StringLiteral kStampsName = "timeline_stamps";
/// A stage has two stamps, on entering and on leaving it.
constexpr int64_t kStampBytes = 8, kStageBytes = 2 * kStampBytes;

class StageStamps {
 public:
  StageStamps(mlir::ModuleOp module, TimelineOp timeline)
      : module_(module), timeline_(timeline), b(module.getContext()) {
    module->walk([&](StageOp stage) { stages_.push_back(stage); });
  }

  void run() {
    declareLds();
    prepare();
    for (auto [index, stage] : llvm::enumerate(stages_)) {
      mlir::Block& body = stage.getBody().front();
      const auto first = static_cast<int64_t>(index) * kStageBytes;
      b.setInsertionPointToStart(&body);
      stamp(stage.getLoc(), first);
      b.setInsertionPoint(body.getTerminator());
      stamp(stage.getLoc(), first + kStampBytes);
    }
    auto kernel = timeline_->getParentOfType<mlir::func::FuncOp>();
    for (mlir::func::ReturnOp end :
         llvm::make_early_inc_range(kernel.getOps<mlir::func::ReturnOp>())) {
      b.setInsertionPoint(end);
      flush();
    }
    timeline_->erase();
    llvm::SmallVector<mlir::Attribute> names;
    for (StageOp stage : stages_) names.push_back(stage.getStageAttr());
    module_->setAttr(kTimelineAttr, b.getArrayAttr(names));
  }

 private:
  int64_t bytes() const { return static_cast<int64_t>(stages_.size()) * kStageBytes; }

  Value i32(Location loc, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }

  /// Behind everything else: what the stages keep in LDS may overlap, the stamps may not.
  void declareLds() {
    int64_t end = 0;
    for (LdsOp lds : module_.getOps<LdsOp>()) {
      end = std::max(end, static_cast<int64_t>(lds.getOffset() + lds.getBytes()));
    }
    b.setInsertionPointToStart(module_.getBody());
    LdsOp::create(b, timeline_.getLoc(), kStampsName, llvm::alignTo(end, kStageBytes), bytes());
  }

  uint32_t number(llvm::StringRef name) {
    return static_cast<uint32_t>(module_->getAttrOfType<mlir::IntegerAttr>(name).getInt());
  }

  /// Code for lane 0 of the workgroup.
  void onFirstLane(Location loc, llvm::function_ref<void()> body) {
    auto branch = mlir::scf::IfOp::create(b, loc, first_lane_, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard outside(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  /// A stage that the workgroup does not run leaves zeros.
  void prepare() {
    Location loc = timeline_.getLoc();
    b.setInsertionPoint(timeline_);
    Value thread = ThreadIdOp::create(b, loc, b.getI32Type(), number(kWorkgroupAttr));
    first_lane_ = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, i32(loc, 0));
    cta_ = CtaIdOp::create(b, loc, b.getI32Type(), number(kGridAttr));
    onFirstLane(loc, [&] {
      auto type = mlir::VectorType::get(4, b.getI32Type());
      Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
      for (int64_t byte = 0; byte < bytes(); byte += kStageBytes) {
        LdsStoreOp::create(b, loc, zeros, kStampsName, i32(loc, byte));
      }
    });
  }

  void stamp(Location loc, int64_t byte) {
    onFirstLane(loc, [&] {
      Value clock = mlir::LLVM::CallIntrinsicOp::create(
                        b, loc, b.getI64Type(), b.getStringAttr("llvm.amdgcn.s.memrealtime"),
                        mlir::ValueRange())
                        .getResult(0);
      LdsStoreOp::create(b, loc, clock, kStampsName, i32(loc, byte));
    });
  }

  void flush() {
    Location loc = timeline_.getLoc();
    onFirstLane(loc, [&] {
      auto type = mlir::VectorType::get(4, b.getI32Type());
      Value stamps = BufferOp::create(b, loc, BufferType::get(b.getContext()),
                                      timeline_.getStamps(), number(kGridAttr) * bytes());
      Value row = arith::MulIOp::create(b, loc, cta_, i32(loc, bytes()));
      for (int64_t byte = 0; byte < bytes(); byte += kStageBytes) {
        Value both = LdsLoadOp::create(b, loc, type, kStampsName, i32(loc, byte));
        Value offset = arith::AddIOp::create(b, loc, row, i32(loc, byte));
        StoreOp::create(b, loc, both, stamps, offset, ScopeKind::wave);
      }
    });
  }

  mlir::ModuleOp module_;
  TimelineOp timeline_;
  mlir::OpBuilder b;
  llvm::SmallVector<StageOp> stages_;
  Value first_lane_, cta_;
};

/// One timeline, before every stage, in a module that says how large the launch is.
mlir::LogicalResult checkTimelines(mlir::ModuleOp module, llvm::ArrayRef<TimelineOp> timelines) {
  if (timelines.size() > 1) {
    TimelineOp second = timelines[1];
    return second.emitOpError("is the kernel's second: it has one");
  }
  TimelineOp timeline = timelines[0];
  for (llvm::StringRef name : {llvm::StringRef(kWorkgroupAttr), llvm::StringRef(kGridAttr)}) {
    if (!module->hasAttr(name)) {
      return timeline.emitOpError() << "needs the module's '" << name << "'";
    }
  }
  StageOp before;
  bool none = true;
  module->walk([&](StageOp stage) {
    none = false;
    mlir::Operation* at = timeline->getBlock()->findAncestorOpInBlock(*stage);
    if (!before && at && at->isBeforeInBlock(timeline)) before = stage;
  });
  if (none) return timeline.emitOpError("finds no stage to stamp");
  if (!before) return mlir::success();
  return timeline.emitOpError() << "stands behind stage '" << before.getStage()
                                << "', which it would miss";
}

struct StampStagesPass : impl::StampStagesBase<StampStagesPass> {
  void runOnOperation() override {
    llvm::SmallVector<TimelineOp> timelines;
    getOperation()->walk([&](TimelineOp timeline) { timelines.push_back(timeline); });
    if (timelines.empty()) return markAllAnalysesPreserved();
    if (failed(checkTimelines(getOperation(), timelines))) return signalPassFailure();
    StageStamps(getOperation(), timelines[0]).run();
    if (failed(requireNone<TimelineOp>(getOperation(), getArgument()))) signalPassFailure();
  }
};

}  // namespace
}  // namespace baton::ir
