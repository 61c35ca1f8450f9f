// The metadata of a code object as libamd_comgr reads it.
#pragma once

#include <string_view>

#include "codegen/comgr/comgr_library.h"
#include "runtime/object/kernel_metadata.h"

namespace baton::comgr {

/// The whole metadata, every field that the note holds, as MessagePack again. Throws Error
/// (failed_check) when comgr cannot read it.
Bytes metadata_note(const Library& library, ByteView code_object);

/// Compares two notes field by field. Throws Error (failed_check) that names the first field that
/// differs: "amdhsa.kernels/0/.vgpr_count".
void require_same_metadata(ByteView note, ByteView comgr_note, std::string_view title);

/// The metadata by comgr, of a code object that ElfImage has accepted. Throws Error (failed_check)
/// when comgr cannot read it or reads a field otherwise than Baton.
CodeObjectMetadata read_metadata(const Library& library, ByteView code_object);

}  // namespace baton::comgr
