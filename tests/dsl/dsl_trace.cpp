#include "tests/dsl/dsl_trace.h"

#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "dsl/trace/trace.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/diagnostics.h"
#include "passes/pipeline.h"
#include "runtime/target/target.h"

namespace baton::tests {
namespace {

dsl::FinishedTrace trace_kernel(const KernelBody& body, const std::string& chip) {
  dsl::Trace trace(find_target(chip), "k:");
  dsl::Kernel kernel("k", {.workgroup_lanes = 512, .grid_workgroups = 4});
  body(kernel);
  return trace.finish();
}

void run_passes(mlir::ModuleOp module) {
  ir::DiagnosticCollector diagnostics(*module.getContext());
  mlir::PassManager passes(module.getContext());
  ir::buildPipeline(passes);
  if (mlir::failed(passes.run(module))) diagnostics.raise("the passes failed");
}

std::string text_of(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

}  // namespace

std::string traced(const KernelBody& body, const std::string& chip) {
  return text_of(trace_kernel(body, chip).module());
}

std::string lowered(const KernelBody& body, const std::string& chip) {
  dsl::FinishedTrace trace = trace_kernel(body, chip);
  run_passes(trace.module());
  return text_of(trace.module());
}

std::string assembly(const KernelBody& body, const std::string& chip) {
  dsl::FinishedTrace trace = trace_kernel(body, chip);
  run_passes(trace.module());
  return generate(trace.module(), {.until = EmitStage::assembly, .sources = {}}).assembly;
}

CodeObject code_object(const KernelBody& body, const std::string& chip) {
  dsl::FinishedTrace trace = trace_kernel(body, chip);
  run_passes(trace.module());
  return generate(trace.module()).code_object;
}

void compile_everywhere(const KernelBody& body) {
  for (const char* chip : kChips) {
    INFO(chip);
    CHECK_FALSE(code_object(body, chip).bytes.empty());
  }
}

Error refused(const KernelBody& body) {
  try {
    trace_kernel(body, "gfx950");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::user);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error;
  }
  FAIL("expected a misuse, nothing was thrown");
  return {ErrorKind::failed_check, ""};
}

void expect_misuse(const std::string& message, const std::string& hint, const WrongBody& body,
                   dsl::SourceLocation at) {
  int line = 0;
  const Error error = refused([&](dsl::Kernel& kernel) { body(kernel, line); });
  const std::string where = std::string(at.file_name()) + ":" + std::to_string(line);
  CHECK(error.where() == where);
  CHECK(error.what() == where + ": " + message);
  CHECK(error.hint() == hint);
}

uint64_t constant_bits(dsl::Handle value) {
  auto of = mlir::Value::getFromOpaquePointer(value.get());
  auto op = of.getDefiningOp<mlir::arith::ConstantOp>();
  if (!op)
    FAIL("no constant: " << text_of(of.getParentRegion()->getParentOfType<mlir::ModuleOp>()));
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(op.getValue())) {
    return integer.getValue().getZExtValue();
  }
  return mlir::cast<mlir::FloatAttr>(op.getValue()).getValue().bitcastToAPInt().getZExtValue();
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool has_in_order(const std::string& text, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) {
      UNSCOPED_INFO("missing, or not behind the parts before: " << part << "\n" << text);
      return false;
    }
    at += part.size();
  }
  return true;
}

}  // namespace baton::tests
