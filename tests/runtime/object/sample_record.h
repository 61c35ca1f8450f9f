// A record with something in every field, and its JSON written by hand.
#pragma once

#include "runtime/object/record.h"

namespace baton::tests {

inline Record sample_record() {
  return {
      .baton_version = "0.1.0",
      .llvm_version = "22.1.0",
      .key = "attn_post:tokens=8",
      .chip = "gfx950",
      .kernel = "attn_post",
      .sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      .resources = {.vgprs = 128,
                    .agprs = 4,
                    .sgprs = 60,
                    .lds_bytes = 34816,
                    .scratch_bytes = 0,
                    .vgpr_spills = 1,
                    .sgpr_spills = 2,
                    .kernarg_bytes = 12,
                    .workgroup_lanes = 512,
                    .grid_workgroups = 256},
      .occupancy = {.waves_per_simd = 4, .workgroups_per_cu = 2},
      .arguments =
          {{"core", ArgumentKind::buffer, ArgumentAccess::read_write, "bf16", {8, 1536}, 0, 8},
           {"rank", ArgumentKind::i32, ArgumentAccess::read, "i32", {}, 8, 4}},
      .regions = {{"ar", RegionSpace::peer, RegionProtocol::sentinel, "bf16", {2, 1, 16}, 64, 64}},
      .stages = {"o", "reduce"},
      .timeline = {"o"},
      .bounded_waits = true,
      .totals = {.scratch_bytes = 4096, .peer_half_bytes = 128},
  };
}

constexpr const char* kSampleJson = R"({
  "format": 2,
  "baton_version": "0.1.0",
  "llvm_version": "22.1.0",
  "key": "attn_post:tokens=8",
  "chip": "gfx950",
  "kernel": "attn_post",
  "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  "resources": {
    "vgprs": 128,
    "agprs": 4,
    "sgprs": 60,
    "lds_bytes": 34816,
    "scratch_bytes": 0,
    "vgpr_spills": 1,
    "sgpr_spills": 2,
    "kernarg_bytes": 12,
    "workgroup_lanes": 512,
    "grid_workgroups": 256
  },
  "occupancy": {
    "waves_per_simd": 4,
    "workgroups_per_cu": 2
  },
  "arguments": [
    {
      "name": "core",
      "kind": "buffer",
      "access": "read_write",
      "dtype": "bf16",
      "shape": [
        8,
        1536
      ],
      "offset": 0,
      "size": 8
    },
    {
      "name": "rank",
      "kind": "i32",
      "access": "read",
      "dtype": "i32",
      "shape": [],
      "offset": 8,
      "size": 4
    }
  ],
  "regions": [
    {
      "name": "ar",
      "space": "peer",
      "protocol": "sentinel",
      "dtype": "bf16",
      "shape": [
        2,
        1,
        16
      ],
      "offset": 64,
      "bytes": 64
    }
  ],
  "stages": [
    "o",
    "reduce"
  ],
  "timeline": [
    "o"
  ],
  "bounded_waits": true,
  "totals": {
    "scratch_bytes": 4096,
    "peer_half_bytes": 128
  }
}
)";

}  // namespace baton::tests
