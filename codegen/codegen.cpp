#include "codegen/codegen.h"

#include <llvm/Support/raw_ostream.h>
#include <mlir/IR/BuiltinOps.h>

#include <chrono>
#include <memory>

#include "codegen/comgr/comgr_link.h"
#include "codegen/comgr/comgr_metadata.h"
#include "codegen/draft_record.h"
#include "codegen/emit.h"
#include "codegen/finish.h"
#include "codegen/link.h"
#include "codegen/llvm_job.h"
#include "codegen/translate.h"

namespace baton {
namespace {

/// The milliseconds that `work` takes.
template <typename Work>
double timed_ms(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

/// comgr, opened and asked for the chip, when it is the backend.
std::unique_ptr<comgr::Library> open_backend(Backend backend, std::string_view chip) {
  if (backend == Backend::lld) return nullptr;
  auto library = std::make_unique<comgr::Library>();
  library->isa_of(chip);
  return library;
}

}  // namespace

void require_backend(Backend backend, std::string_view chip) { open_backend(backend, chip); }

CodegenResult generate(mlir::ModuleOp module, const CodegenOptions& options) {
  using namespace codegen;
  const Record draft = draft_record(module);
  const std::unique_ptr<comgr::Library> comgr = open_backend(options.backend, draft.chip);
  LlvmJob job(draft.chip);
  CodegenResult result;
  PhaseTimes& times = result.times;
  times.translate_ms = timed_ms([&] { translate(module, draft, options.sources, job); });
  if (options.until == EmitStage::llvm_ir) {
    result.llvm_ir = text_of(*job.module());
    return result;
  }
  times.optimise_ms = timed_ms([&] { optimise(job); });
  if (options.until == EmitStage::assembly) {
    times.emit_ms = timed_ms([&] { result.assembly = emit_assembly(job); });
  } else {
    times.emit_ms = timed_ms([&] { result.object = emit_object(job); });
  }
  result.warnings = job.reports().warnings;
  if (options.until != EmitStage::code_object) return result;
  Bytes linked;
  times.link_ms = timed_ms([&] {
    linked =
        comgr ? comgr::link_shared(*comgr, draft.chip, result.object) : link_shared(result.object);
  });
  result.object.clear();
  times.check_ms = timed_ms([&] {
    result.code_object = finish(draft, std::move(linked), job.reports().resources);
    if (comgr) comgr::read_metadata(*comgr, result.code_object.bytes);
  });
  return result;
}

}  // namespace baton
