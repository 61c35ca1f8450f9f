// From a relocatable object to a code object: the LLD inside libamd_comgr.
#pragma once

#include <filesystem>
#include <string_view>

#include "codegen/comgr/comgr_library.h"
#include "codegen/link_files.h"

namespace baton::comgr {

/// Links one object for `chip`, in a child of this process: comgr's LLD ends the process that it
/// runs in when an object is damaged, and keeps its state in globals. comgr writes below `folder`;
/// nothing stays there. Any thread may call it. The same object gives the same bytes.
/// Throws Error: environment for a chip that comgr does not know, and when there is no room;
/// failed_check, with the first line of comgr's log, when it refuses the object or crashes.
Bytes link_shared(const Library& library, std::string_view chip, ByteView object,
                  const std::filesystem::path& folder);
inline Bytes link_shared(const Library& library, std::string_view chip, ByteView object) {
  return link_shared(library, chip, object, codegen::link_folder(object.size()));
}

}  // namespace baton::comgr
