// The texts of the kernels' source files, as they were compiled: listings show them beside the ISA.
#pragma once

#include <vector>

#include "codegen/codegen.h"

namespace baton::builds {

/// In the order of builds/CMakeLists.txt; file names as the debug locations spell them.
const std::vector<SourceText>& kernel_sources();

}  // namespace baton::builds
