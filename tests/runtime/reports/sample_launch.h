// The record of a small kernel with regions of every protocol, for the tests of reports.
#pragma once

#include "runtime/object/record.h"

namespace baton::tests {

/// Peer regions `ar`, tagged bf16 [8, 2, 32] (words of 2 elements: 32 a source), and `latr`, the
/// same as sentinels; scratch `part`, f32 [4, 3].
inline Record sample_launch() {
  Record record;
  record.key = "attn_post:tokens=2";
  record.chip = "gfx950";
  record.kernel = "attn_post";
  record.resources.grid_workgroups = 4;
  record.regions = {
      {"ar", RegionSpace::peer, RegionProtocol::tagged, "bf16", {8, 2, 32}, 0, 2048},
      {"latr", RegionSpace::peer, RegionProtocol::sentinel, "bf16", {8, 2, 32}, 2048, 1024},
      {"part", RegionSpace::scratch, RegionProtocol::tagged, "f32", {4, 3}, 0, 96},
  };
  return record;
}

}  // namespace baton::tests
