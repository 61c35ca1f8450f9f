// From a relocatable object to a code object: LLD in this process.
#pragma once

#include <filesystem>

#include "codegen/link_files.h"
#include "runtime/base/bytes.h"

namespace baton::codegen {

/// `ld.lld -shared` of one object. LLD writes below `folder`; nothing stays there. Any thread may
/// call it; links run one after another, because LLD keeps its state in globals.
/// Throws Error: environment when the folder cannot be written or is full; failed_check when LLD
/// refuses the object or crashed earlier in this process.
Bytes link_shared(ByteView object, const std::filesystem::path& folder);
inline Bytes link_shared(ByteView object) {
  return link_shared(object, link_folder(object.size()));
}

}  // namespace baton::codegen
