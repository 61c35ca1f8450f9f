// From a relocatable object to a code object: LLD in this process.
#pragma once

#include <filesystem>

#include "runtime/base/bytes.h"

namespace baton::codegen {

/// A folder for LLD's output, which must be a real path, with room for a link of `object_bytes`: in
/// memory where the machine has /dev/shm, else TMPDIR. Throws Error (environment) when neither has.
std::filesystem::path link_folder(uint64_t object_bytes);

/// `ld.lld -shared` of one object. LLD writes below `folder`; nothing stays there. Any thread may
/// call it; links run one after another, because LLD keeps its state in globals.
/// Throws Error: environment when the folder cannot be written or is full; failed_check when LLD
/// refuses the object or crashed earlier in this process.
Bytes link_shared(ByteView object, const std::filesystem::path& folder);
inline Bytes link_shared(ByteView object) {
  return link_shared(object, link_folder(object.size()));
}

}  // namespace baton::codegen
