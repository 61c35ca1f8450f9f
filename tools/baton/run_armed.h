// Whether a step left every sentinel word armed.
#pragma once

#include <string>
#include <vector>

#include "builds/kernel_check.h"
#include "runtime/collective.h"

namespace baton::cli {

struct ArmedCheck {
  std::vector<builds::CheckRow> rows;  ///< one a rank; none without sentinel regions
  std::string first_unarmed;           ///< "ar[3, 0, 512] of rank 5 is 0x3f803f80", or empty
};

/// Of the words of sentinel regions in scratch and in both halves of the peer buffers.
ArmedCheck check_armed(Collective& collective);

}  // namespace baton::cli
