// The last step: the linked bytes are read back, compared with what the compiler believes, refused
// when they spill, and paired with their record.
#pragma once

#include "codegen/llvm_job.h"
#include "runtime/object/code_object.h"

namespace baton::codegen {

/// Throws Error: user for a kernel with scratch memory, spills or hidden arguments; failed_check
/// when the compiler and the bytes disagree.
CodeObject finish(Record draft, Bytes bytes, const ResourceRemark& believed);

}  // namespace baton::codegen
