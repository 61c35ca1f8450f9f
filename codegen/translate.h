// From the llvm + rocdl dialects to LLVM IR, with all that the backend must know of the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/facts.h"

namespace baton::codegen {

class LlvmJob;

/// Fills job.module(): triple, data layout, code object version 5, the kernel's attributes, and
/// the authors' sources in the debug information's file entries.
/// Throws Error (user) that names the operation which is not of the llvm or rocdl dialect, or what
/// else is wrong with the module.
void translate(mlir::ModuleOp module, const KernelFacts& facts,
               const std::vector<SourceText>& sources, LlvmJob& job);

}  // namespace baton::codegen
