#include "dsl/trace/kernel.h"

#include "dsl/trace/open_trace.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::dsl {

const Target& current_target() {
  return detail::open_trace(SourceLocation::current(), /*in_kernel=*/false).target;
}

void reread_arguments(SourceLocation at) {
  detail::OpenTrace& trace = detail::open_trace(at);
  if (!trace.open_stage.empty()) {
    detail::misuse(at, "arguments are read anew inside stage '" + trace.open_stage + "'",
                   "let whole stages read them anew: call this between two");
  }
  ir::RereadArgumentsOp::create(trace.builder, detail::locate(trace, at));
}

namespace detail {
namespace {

constexpr int kMaxWorkgroupLanes = 1024;

llvm::StringRef dtype_name(Scalar scalar) {
  constexpr llvm::StringLiteral kNames[] = {"i1", "i32", "u32", "i64", "f32", "bf16"};
  return kNames[static_cast<int>(scalar)];
}

llvm::StringRef access_name(Access access) {
  constexpr llvm::StringLiteral kNames[] = {"read", "write", "read_write"};
  return kNames[static_cast<int>(access)];
}

/// Appends an argument to the kernel's function and `fields` to the ABI manifest.
Handle add_argument(OpenTrace& trace, const std::string& name, mlir::Type type,
                    llvm::ArrayRef<mlir::NamedAttribute> fields, const SourceLocation& at) {
  check_name("an argument", name, at);
  for (mlir::Attribute known : trace.arguments) {
    auto other = mlir::cast<mlir::DictionaryAttr>(known).getAs<mlir::StringAttr>("name");
    if (other.getValue() == name) misuse(at, "argument '" + name + "' is named twice");
  }
  trace.arguments.push_back(trace.builder.getDictionaryAttr(fields));
  unsigned index = trace.kernel.getNumArguments();
  if (failed(trace.kernel.insertArgument(index, type, {}, locate(trace, at)))) {
    misuse(at, "argument '" + name + "' cannot be added");
  }
  return handle_of(trace.kernel.getArgument(index));
}

}  // namespace

void open_kernel(const std::string& name, LaunchShape shape, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at, /*in_kernel=*/false);
  if (trace.kernel) misuse(at, "a trace holds one kernel, this is its second: '" + name + "'");
  check_name("a kernel", name, at);
  const int wave = trace.target.wave_lanes;
  if (shape.workgroup_lanes < wave || shape.workgroup_lanes > kMaxWorkgroupLanes ||
      shape.workgroup_lanes % wave != 0) {
    misuse(at, "a workgroup of " + std::to_string(shape.workgroup_lanes) + " lanes",
           "whole waves of " + std::to_string(wave) + ", at most 1024 lanes");
  }
  if (shape.grid_workgroups < 1) {
    misuse(at, "a grid of " + std::to_string(shape.grid_workgroups) + " workgroups");
  }
  mlir::OpBuilder& b = trace.builder;
  b.setInsertionPointToEnd(trace.module->getBody());
  trace.kernel = mlir::func::FuncOp::create(b, locate(trace, at), name, b.getFunctionType({}, {}));
  trace.kernel->setAttr(ir::kKernelAttr, b.getUnitAttr());
  trace.workgroup_lanes = shape.workgroup_lanes;
  trace.grid_workgroups = shape.grid_workgroups;
  (*trace.module)->setAttr(ir::kWorkgroupAttr, b.getI64IntegerAttr(shape.workgroup_lanes));
  (*trace.module)->setAttr(ir::kGridAttr, b.getI64IntegerAttr(shape.grid_workgroups));
  b.setInsertionPointToStart(trace.kernel.addEntryBlock());
}

Handle pointer_argument(const std::string& name, Scalar element, const std::vector<int64_t>& shape,
                        Access access, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  constexpr int64_t kMaxBytes = 0xFFFFFFFFLL;
  int64_t bytes = TypeId{element}.bytes();
  for (int64_t size : shape) {
    if (size < 1) misuse(at, "argument '" + name + "' has size " + std::to_string(size));
    if (size > kMaxBytes / bytes) {
      misuse(at, "argument '" + name + "' has more than 4294967295 bytes",
             "a buffer resource spans no more: leave the shape empty and index from a nearer base");
    }
    bytes *= size;
  }
  mlir::OpBuilder& b = trace.builder;
  mlir::NamedAttribute fields[] = {
      b.getNamedAttr("name", b.getStringAttr(name)),
      b.getNamedAttr("kind", b.getStringAttr("buffer")),
      b.getNamedAttr("access", b.getStringAttr(access_name(access))),
      b.getNamedAttr("dtype", b.getStringAttr(dtype_name(element))),
      b.getNamedAttr("shape", b.getDenseI64ArrayAttr(shape)),
  };
  return add_argument(trace, name, mlir::LLVM::LLVMPointerType::get(trace.context.get(), 1), fields,
                      at);
}

Handle i32_argument(const std::string& name, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::OpBuilder& b = trace.builder;
  mlir::NamedAttribute fields[] = {
      b.getNamedAttr("name", b.getStringAttr(name)),
      b.getNamedAttr("kind", b.getStringAttr("i32")),
  };
  return add_argument(trace, name, b.getI32Type(), fields, at);
}

void ask_timeline(Handle stamps, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  if (trace.builder.getInsertionBlock() != &trace.kernel.getBody().front()) {
    misuse(at, "a timeline is asked for inside a stage, branch or loop",
           "ask for it at the kernel's head, before the first stage");
  }
  if (!trace.kernel.getOps<ir::TimelineOp>().empty()) misuse(at, "a kernel has one timeline");
  if (!trace.stages.empty()) {
    misuse(at, "a timeline is asked for behind a stage",
           "ask for it at the kernel's head, before the first stage");
  }
  ir::TimelineOp::create(trace.builder, locate(trace, at), use(trace, stamps, at));
}

void begin_stage(const std::string& name, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  check_name("a stage", name, at);
  if (!trace.open_stage.empty()) {
    misuse(at, "stage '" + name + "' is opened inside stage '" + trace.open_stage + "'",
           "stages do not nest: close the first one before");
  }
  mlir::OpBuilder& b = trace.builder;
  mlir::StringAttr label = b.getStringAttr(name);
  if (!llvm::is_contained(trace.stages, mlir::Attribute(label))) trace.stages.push_back(label);
  trace.open_stage = name;
  auto op = ir::StageOp::create(b, locate(trace, at), mlir::TypeRange(), name);
  enter(trace, op.getBody());
}

void end_stage() {
  OpenTrace& trace = open_trace(SourceLocation::current());
  mlir::OpBuilder& b = trace.builder;
  ir::YieldOp::create(b, b.getInsertionBlock()->getParentOp()->getLoc(), mlir::ValueRange());
  trace.open_stage.clear();
  leave(trace);
}

}  // namespace detail
}  // namespace baton::dsl
