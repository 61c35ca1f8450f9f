#include "passes/dialect/BatonDialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "passes/dialect/BatonDialect.cpp.inc"
#include "passes/dialect/BatonEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "passes/dialect/BatonTypes.cpp.inc"

namespace baton::ir {

void BatonDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "passes/dialect/BatonTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "passes/dialect/BatonOps.cpp.inc"
      >();
}

namespace {

mlir::LogicalResult verifyChip(mlir::Operation* op, mlir::Attribute value) {
  auto chip = mlir::dyn_cast<mlir::StringAttr>(value);
  if (!chip) return op->emitError() << "'" << kChipAttr << "' must be a string";
  if (lookup_target(chip.getValue())) return mlir::success();
  auto diagnostic = op->emitError() << "unknown chip '" << chip.getValue() << "'; known:";
  for (const Target& target : all_targets()) diagnostic << " " << target.chip;
  return diagnostic;
}

}  // namespace

mlir::LogicalResult BatonDialect::verifyOperationAttribute(mlir::Operation* op,
                                                           mlir::NamedAttribute attribute) {
  llvm::StringRef name = attribute.getName();
  if (name == kKernelAttr) {
    if (op->getName().getStringRef() == "func.func" || mlir::isa<mlir::LLVM::LLVMFuncOp>(op)) {
      return mlir::success();
    }
    return op->emitError() << "'" << kKernelAttr << "' belongs on a function";
  }
  if (!mlir::isa<mlir::ModuleOp>(op)) {
    return op->emitError() << "'" << name << "' belongs on a module";
  }
  if (name == kChipAttr) return verifyChip(op, attribute.getValue());
  if (name == kKeyAttr) {
    if (mlir::isa<mlir::StringAttr>(attribute.getValue())) return mlir::success();
    return op->emitError() << "'" << name << "' must be a string";
  }
  if (name == kStagesAttr || name == kTimelineAttr || name == kArgsAttr || name == kRegionsAttr) {
    if (mlir::isa<mlir::ArrayAttr>(attribute.getValue())) return mlir::success();
    return op->emitError() << "'" << name << "' must be an array";
  }
  if (name == kBoundedWaitsAttr) {
    if (mlir::isa<mlir::UnitAttr>(attribute.getValue())) return mlir::success();
    return op->emitError() << "'" << name << "' has no value";
  }
  for (llvm::StringRef number :
       {llvm::StringRef(kScratchBytesAttr), llvm::StringRef(kPeerHalfBytesAttr),
        llvm::StringRef(kGridAttr), llvm::StringRef(kWorkgroupAttr)}) {
    if (name != number) continue;
    auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute.getValue());
    if (integer && integer.getInt() >= 0) return mlir::success();
    return op->emitError() << "'" << name << "' must be an integer of at least 0";
  }
  return op->emitError() << "unknown attribute '" << name << "'";
}

mlir::LogicalResult BatonDialect::verifyRegionArgAttribute(mlir::Operation* op, unsigned, unsigned,
                                                           mlir::NamedAttribute attribute) {
  return op->emitError() << "unknown argument attribute '" << attribute.getName().getValue() << "'";
}

const Target* targetOf(mlir::Operation* op) {
  auto module = mlir::dyn_cast<mlir::ModuleOp>(op);
  if (!module) module = op->getParentOfType<mlir::ModuleOp>();
  auto chip = module ? module->getAttrOfType<mlir::StringAttr>(kChipAttr) : mlir::StringAttr();
  if (!chip) {
    op->emitError() << "the module does not say for which chip it is: give it '" << kChipAttr
                    << "'";
    return nullptr;
  }
  return lookup_target(chip.getValue());
}

ScopeKind scopeOf(Space space) {
  return space == Space::scratch ? ScopeKind::device : ScopeKind::system;
}

int64_t bytesOf(mlir::Type type) {
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type)) {
    return vector.getNumElements() * bytesOf(vector.getElementType());
  }
  return (type.getIntOrFloatBitWidth() + 7) / 8;
}

RegionOp lookupRegion(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol) {
  return mlir::SymbolTable::lookupNearestSymbolFrom<RegionOp>(op, symbol);
}

LdsOp lookupLds(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol) {
  return mlir::SymbolTable::lookupNearestSymbolFrom<LdsOp>(op, symbol);
}

llvm::StringRef stageOf(mlir::Operation* op) {
  auto stage = mlir::dyn_cast<StageOp>(op);
  if (!stage) stage = op->getParentOfType<StageOp>();
  return stage ? stage.getStage() : llvm::StringRef();
}

}  // namespace baton::ir
