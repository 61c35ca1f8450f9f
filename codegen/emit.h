// From LLVM IR to machine code: the O3 pipeline, then the AMDGPU back end, in this process.
#pragma once

#include <string>

#include "runtime/base/bytes.h"

namespace baton::codegen {

class LlvmJob;

/// Runs what `opt -O3` runs, with the target's cost model, over job.module().
void optimise(LlvmJob& job);

/// The back end's product: a relocatable object. Spends job.module().
Bytes emit_object(LlvmJob& job);

/// The same machine code as assembly text. Spends job.module().
std::string emit_assembly(LlvmJob& job);

}  // namespace baton::codegen
