// Instructions as libamd_comgr disassembles them.
#pragma once

#include <memory>
#include <string_view>

#include "codegen/comgr/comgr_library.h"
#include "codegen/listing/decoder.h"

namespace baton::comgr {

/// `library` has to outlive it. Throws Error: environment for a chip that comgr does not know.
std::unique_ptr<codegen::Decoder> make_decoder(const Library& library, std::string_view chip);

}  // namespace baton::comgr
