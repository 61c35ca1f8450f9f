#include "builds/builder.h"

#include <chrono>

#include "builds/kernel_sources.h"
#include "builds/kimi_k3/attn_post.h"
#include "builds/kimi_k3/kda_pre.h"
#include "dsl/trace/trace.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/diagnostics.h"
#include "passes/pipeline.h"
#include "runtime/base/error.h"

namespace baton::builds {
namespace {

using KernelFunction = void (*)(const BuildKey&);

struct KernelEntry {
  std::string_view family;
  KernelFunction trace;
};

constexpr KernelEntry kKernels[] = {
    {"attn_post", kimi_k3::trace_attn_post},
    {"kda_pre", kimi_k3::trace_kda_pre},
};

/// Milliseconds since the last call.
class Stopwatch {
 public:
  double lap_ms() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> lap = now - last_;
    last_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

dsl::FinishedTrace trace_kernel(const BuildKey& key) {
  for (const KernelEntry& kernel : kKernels) {
    if (kernel.family != key.family()) continue;
    dsl::Trace trace(find_target(key.chip()), key.text());
    kernel.trace(key);
    return trace.finish();
  }
  throw Error(ErrorKind::user, fmt::format("no kernel is called '{}'", key.family()));
}

void run_passes(mlir::ModuleOp module, std::vector<std::string>& remarks) {
  ir::DiagnosticCollector diagnostics(*module.getContext());
  mlir::PassManager manager(module.getContext());
  // Once at the end is enough for a compile; baton-opt verifies after every pass.
  manager.enableVerifier(false);
  ir::buildPipeline(manager);
  if (failed(manager.run(module)) || failed(mlir::verify(module))) {
    diagnostics.raise("the passes failed");
  }
  remarks = diagnostics.remarks();
}

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

EmitStage codegen_stage(Emit until) {
  switch (until) {
    case Emit::llvm:
      return EmitStage::llvm_ir;
    case Emit::assembly:
      return EmitStage::assembly;
    case Emit::object:
      return EmitStage::object;
    default:
      return EmitStage::code_object;
  }
}

}  // namespace

struct TracedBuild::State {
  explicit State(const BuildKey& key) : trace(trace_kernel(key)), trace_ms(watch.lap_ms()) {}

  Stopwatch watch;
  dsl::FinishedTrace trace;
  double trace_ms;
};

TracedBuild::TracedBuild(const BuildKey& key) : state_(std::make_unique<State>(key)) {}
TracedBuild::TracedBuild(TracedBuild&&) noexcept = default;
TracedBuild::~TracedBuild() = default;

std::string TracedBuild::module_text() const { return print(state_->trace.module()); }

Build TracedBuild::finish(Emit until, Backend backend) {
  Build result;
  result.times.trace_ms = state_->trace_ms;
  const mlir::ModuleOp module = state_->trace.module();
  if (until == Emit::baton) {
    result.text = print(module);
    return result;
  }
  Stopwatch watch;
  run_passes(module, result.remarks);
  result.times.passes_ms = watch.lap_ms();
  if (until == Emit::mlir) {
    result.text = print(module);
    return result;
  }
  CodegenResult generated = generate(
      module, {.until = codegen_stage(until), .backend = backend, .sources = kernel_sources()});
  result.times.codegen = generated.times;
  for (std::string& warning : generated.warnings) result.remarks.push_back(std::move(warning));
  result.text = until == Emit::llvm ? std::move(generated.llvm_ir) : std::move(generated.assembly);
  result.object = std::move(generated.object);
  result.code_object = std::move(generated.code_object);
  return result;
}

Build build(const BuildKey& key, Emit until, Backend backend) {
  require_backend(backend, key.chip());
  return TracedBuild(key).finish(until, backend);
}

}  // namespace baton::builds
