#include "runtime/object/occupancy.h"

#include <algorithm>

namespace baton {
namespace {

constexpr int kSgprsPerSimd = 800;  // on gfx90a, gfx942 and gfx950

uint32_t divide_up(uint32_t value, int granule) {
  const auto step = static_cast<uint32_t>(granule);
  return value / step + (value % step != 0 ? 1 : 0);
}

int waves_per_simd(const Target& target, const Footprint& footprint) {
  if (footprint.vgprs > static_cast<uint32_t>(target.max_vgprs_per_wave)) return 0;
  const int granules =
      std::max(1, static_cast<int>(divide_up(footprint.vgprs, target.vgpr_granule)));
  const int by_vgprs = target.vgprs_per_simd_lane / (granules * target.vgpr_granule);
  const auto sgprs = std::clamp(footprint.sgprs, 1u, uint32_t{kSgprsPerSimd});
  const int by_sgprs = kSgprsPerSimd / static_cast<int>(sgprs);
  return std::min({target.max_waves_per_simd, by_vgprs, by_sgprs});
}

}  // namespace

Occupancy occupancy(const Target& target, const Footprint& footprint) {
  const int waves = waves_per_simd(target, footprint);
  if (footprint.lds_bytes > static_cast<uint32_t>(target.lds_bytes)) return {waves, 0};
  const int slots = waves * target.simds_per_cu;
  const int needed =
      std::max(1, static_cast<int>(divide_up(footprint.workgroup_lanes, target.wave_lanes)));
  int workgroups = slots / needed;
  const int lds_granules =
      static_cast<int>(divide_up(footprint.lds_bytes, target.lds_granule_bytes));
  if (lds_granules > 0) {
    workgroups = std::min(workgroups, target.lds_bytes / (lds_granules * target.lds_granule_bytes));
  }
  return {waves, workgroups};
}

}  // namespace baton
