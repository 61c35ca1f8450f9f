// How much of a kernel fits on a compute unit at once.
#pragma once

#include <cstdint>

#include "runtime/target/target.h"

namespace baton {

/// What limits residency. `vgprs` counts VGPRs and AGPRs together (one unified file), `lds_bytes`
/// a whole workgroup.
struct Footprint {
  uint32_t vgprs;
  uint32_t sgprs;
  uint32_t lds_bytes;
  uint32_t workgroup_lanes;
};

struct Occupancy {
  int waves_per_simd = 0;     ///< that registers allow; 0 when one wave does not fit
  int workgroups_per_cu = 0;  ///< that waves and LDS allow; 0 when one does not fit

  bool operator==(const Occupancy&) const = default;
};

Occupancy occupancy(const Target& target, const Footprint& footprint);

}  // namespace baton
