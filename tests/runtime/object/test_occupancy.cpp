#include <catch2/catch.hpp>

#include "runtime/object/occupancy.h"

namespace baton {
namespace {

Occupancy on(const char* chip, Footprint footprint) {
  return occupancy(find_target(chip), footprint);
}

// By hand, from 512 unified registers a SIMD lane in granules of 8 and 4 SIMDs of 8 waves a CU.
TEST_CASE("registers limit the waves of a SIMD") {
  const auto waves = [](uint32_t vgprs) {
    return on("gfx90a", {.vgprs = vgprs, .sgprs = 16, .lds_bytes = 0, .workgroup_lanes = 64})
        .waves_per_simd;
  };
  CHECK(waves(0) == 8);
  CHECK(waves(64) == 8);  // 512 / 64
  CHECK(waves(65) == 7);  // 72 allocated: 512 / 72 = 7.1
  CHECK(waves(72) == 7);
  CHECK(waves(73) == 6);  // 80: 6.4
  CHECK(waves(96) == 5);  // 5.3
  CHECK(waves(128) == 4);
  CHECK(waves(129) == 3);  // 136: 3.8
  CHECK(waves(168) == 3);  // 3.05
  CHECK(waves(169) == 2);  // 176: 2.9
  CHECK(waves(256) == 2);
  CHECK(waves(257) == 1);
  CHECK(waves(512) == 1);
  CHECK(waves(513) == 0);
}

TEST_CASE("800 SGPRs a SIMD limit its waves") {
  const auto waves = [](uint32_t sgprs) {
    return on("gfx950", {.vgprs = 8, .sgprs = sgprs, .lds_bytes = 0, .workgroup_lanes = 64})
        .waves_per_simd;
  };
  CHECK(waves(0) == 8);
  CHECK(waves(100) == 8);
  CHECK(waves(102) == 7);
}

TEST_CASE("LDS limits the workgroups of a CU, in granules") {
  const auto groups = [](const char* chip, uint32_t lds_bytes) {
    return on(chip, {.vgprs = 32, .sgprs = 16, .lds_bytes = lds_bytes, .workgroup_lanes = 64})
        .workgroups_per_cu;
  };
  CHECK(groups("gfx942", 65536) == 1);
  CHECK(groups("gfx942", 65537) == 0);
  CHECK(groups("gfx942", 32768) == 2);
  CHECK(groups("gfx942", 32767) == 2);  // 64 granules of 512
  CHECK(groups("gfx942", 21845) == 2);  // 43 granules = 22016 bytes; three would be 66048
  CHECK(groups("gfx942", 21504) == 3);  // 42 granules exactly
  CHECK(groups("gfx950", 163840) == 1);
  CHECK(groups("gfx950", 65537) == 2);  // 52 granules of 1280 = 66560; 163840 / 66560 = 2.4
  CHECK(groups("gfx950", 1) == 32);     // then the 32 wave slots of the CU
}

TEST_CASE("waves limit the workgroups of a CU") {
  const auto groups = [](uint32_t vgprs, uint32_t lanes) {
    return on("gfx950", {.vgprs = vgprs, .sgprs = 16, .lds_bytes = 0, .workgroup_lanes = lanes})
        .workgroups_per_cu;
  };
  CHECK(groups(32, 512) == 4);   // 32 slots / 8 waves
  CHECK(groups(128, 512) == 2);  // 16 / 8
  CHECK(groups(129, 512) == 1);  // 12 / 8
  CHECK(groups(256, 512) == 1);  // 8 / 8
  CHECK(groups(257, 512) == 0);  // 4 / 8: does not fit
  CHECK(groups(32, 64) == 32);
  CHECK(groups(32, 65) == 16);  // two waves
  CHECK(groups(32, 128) == 16);
  CHECK(groups(32, 1024) == 2);
}

}  // namespace
}  // namespace baton
