// What stands for the compiler as it was linked: an edit of anything behind it changes it.
#pragma once

#include <string_view>

#include "runtime/base/digest.h"

namespace baton::builds {

/// Of what turns a traced module into code: passes, codegen, the runtime's tables and formats, LLD,
/// and the LLVM and MLIR that this process loaded. Throws Error (environment) when one of those two
/// was linked without a build id.
const Digest& pipeline_id();

/// Of that and of what traces: the DSL, the schemas, the kernels.
const Digest& library_id();

/// SHA-256s of the static libraries, which the build writes; a text for each of the two.
extern const std::string_view kPipelineArchives, kKernelArchives;

}  // namespace baton::builds
