// From the llvm + rocdl dialects to LLVM IR, with all that the backend must know of the kernel.
#pragma once

#include <vector>

#include "codegen/codegen.h"
#include "runtime/object/record.h"

namespace baton::codegen {

class LlvmJob;

/// Fills job.module(): triple, data layout, code object version 5, the kernel's attributes, and
/// the authors' sources in the debug information's file entries.
/// Throws Error (user) that names the operation which is not of the llvm or rocdl dialect, or what
/// else is wrong with the module.
void translate(mlir::ModuleOp module, const Record& draft, const std::vector<SourceText>& sources,
               LlvmJob& job);

}  // namespace baton::codegen
