// What a build makes and a loader takes: the ELF bytes and their record.
#pragma once

#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/object/elf_image.h"
#include "runtime/object/record.h"

namespace baton {

/// What the code object says of a kernel, and of a launch what it does not.
RecordResources resources_of(const Kernel& kernel, uint32_t workgroup_lanes,
                             uint32_t grid_workgroups);

struct CodeObject {
  Bytes bytes;
  Record record;
};

/// Checks that the bytes are what the record says: content hash, chip, kernel and its resources,
/// and that the arguments are the compiler's. The image points into `object.bytes`. Throws Error:
/// user when the bytes are no code object, failed_check when they differ from the record; one line
/// that starts with `source`.
ElfImage verify(const CodeObject& object, std::string_view source);

}  // namespace baton
