// The one door of codegen: a module of the llvm and rocdl dialects becomes a code object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/object/code_object.h"

namespace mlir {
class ModuleOp;
}

namespace baton {

/// The text of a source file that the module's debug locations name.
struct SourceText {
  std::string file;  ///< as the locations spell it: "builds/kimi_k3/attn_post.cpp"
  std::string text;
};

/// What `generate` makes. The order is the order of the work: it stops there.
enum class EmitStage : uint8_t {
  llvm_ir,      ///< text, before any optimisation
  assembly,     ///< text of the optimised kernel
  object,       ///< relocatable ELF
  code_object,  ///< linked, read back and checked: what a loader takes
};

/// What links an object, and reads back what it linked besides the loader's own reader.
enum class Backend : uint8_t {
  lld,    ///< in this process, for every chip
  comgr,  ///< libamd_comgr of the machine, for the chips it knows
};

/// Throws Error (environment) when the backend is not there or does not know the chip.
void require_backend(Backend backend, std::string_view chip);

struct CodegenOptions {
  EmitStage until = EmitStage::code_object;
  Backend backend = Backend::lld;
  /// Embedded in the line table: the code object alone can then be read beside its source.
  std::vector<SourceText> sources;
};

struct PhaseTimes {
  double translate_ms = 0;
  double optimise_ms = 0;
  double emit_ms = 0;
  double link_ms = 0;
  double check_ms = 0;
};

/// Only the product that was asked for is filled.
struct CodegenResult {
  std::string llvm_ir;
  std::string assembly;
  Bytes object;
  CodeObject code_object;
  std::vector<std::string> warnings;  ///< LLVM's, one line each
  PhaseTimes times;
};

/// Compiles a module of one kernel, with the attributes that codegen/draft_record.h describes. The
/// same module and options give the same bytes. Any thread may call it, with a context of its own.
/// Throws Error: user for a module that is not what it should be, that exceeds the chip or that
/// spills registers (the message gives the counts); environment when the link finds no room or the
/// backend does not serve the chip; failed_check for a fault of the compiler.
CodegenResult generate(mlir::ModuleOp module, const CodegenOptions& options = {});

}  // namespace baton
