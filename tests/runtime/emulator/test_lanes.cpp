// What crosses lanes: DPP, swizzles, permutes, swaps; and SDWA.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

constexpr uint32_t kOld = 0x777;

/// v1 holds 100 + lane; runs the instruction on v0 (old value kOld) and compares with `expected`.
void check_move(const std::string& chip, const std::string& instruction, uint64_t exec,
                const std::function<uint32_t(int)>& expected) {
  WaveRun run(chip, instruction);
  for (uint32_t i = 0; i < 64; ++i) {
    run.vgpr(0)[i] = kOld;
    run.vgpr(1)[i] = 100 + i;
  }
  run.wave().set_sgpr64(emulator::kExec, exec);
  run.run();
  for (int i = 0; i < 64; ++i) {
    INFO(instruction << " on " << chip << ", lane " << i);
    REQUIRE(run.vgpr(0)[i] == ((exec >> i) & 1 ? expected(i) : kOld));
  }
}

constexpr uint64_t kAll = ~uint64_t{0};
uint32_t lane(int i) { return 100 + static_cast<uint32_t>(i); }

TEST_CASE("DPP controls", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  const std::string full = " row_mask:0xf bank_mask:0xf";
  const auto move = [&](const std::string& control, const std::function<uint32_t(int)>& expected) {
    check_move(chip, "v_mov_b32_dpp v0, v1 " + control, kAll, expected);
  };
  move("quad_perm:[1,0,3,2]" + full, [](int i) { return lane(i ^ 1); });
  move("quad_perm:[3,3,0,1]" + full, [](int i) {
    constexpr int kFrom[] = {3, 3, 0, 1};
    return lane((i & ~3) | kFrom[i & 3]);
  });
  move("row_shl:1" + full, [](int i) { return i % 16 == 15 ? kOld : lane(i + 1); });
  move("row_shl:3 row_mask:0xf bank_mask:0xf bound_ctrl:0",
       [](int i) { return i % 16 > 12 ? 0 : lane(i + 3); });
  move("row_shr:15" + full, [](int i) { return i % 16 < 15 ? kOld : lane(i - 15); });
  move("row_ror:4" + full, [](int i) { return lane((i & ~15) | ((i - 4) & 15)); });
  move("row_mirror" + full, [](int i) { return lane((i & ~15) | (15 - (i & 15))); });
  move("row_half_mirror" + full, [](int i) { return lane(i ^ 7); });
  move("wave_shr:1" + full, [](int i) { return i == 0 ? kOld : lane(i - 1); });
  move("wave_shl:1" + full, [](int i) { return i == 63 ? kOld : lane(i + 1); });
  move("wave_ror:1" + full, [](int i) { return lane((i + 63) % 64); });
  move("wave_rol:1" + full, [](int i) { return lane((i + 1) % 64); });
  move("row_bcast:15" + full, [](int i) { return i < 16 ? kOld : lane((i & ~15) - 1); });
  move("row_bcast:31" + full, [](int i) { return i < 32 ? kOld : lane(31); });
  move("row_newbcast:5" + full, [](int i) { return lane((i & ~15) + 5); });
  move("quad_perm:[0,1,2,3] row_mask:0xa bank_mask:0x5", [](int i) {
    const bool row = (0xa >> (i / 16)) & 1, bank = (0x5 >> (i % 16 / 4)) & 1;
    return row && bank ? lane(i) : kOld;
  });
}

TEST_CASE("DPP does not read lanes that are off", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx90a");
  const uint64_t exec = 0xfffffffffffffff0;
  const auto from = [&](uint32_t otherwise) {
    return [=](int i) { return i == 4 ? otherwise : lane(i - 1); };
  };
  // Lane 4 would read lane 3, which is off. Rows are not left in this pattern but for their first
  // lane.
  const auto in_row = [&](uint32_t otherwise) {
    return [=](int i) { return i % 16 == 0 ? otherwise : from(otherwise)(i); };
  };
  check_move(chip, "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", exec, in_row(kOld));
  check_move(chip, "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", exec,
             in_row(0));
}

TEST_CASE("swizzle and permute through LDS hardware", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  check_move(chip, "ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, \"1pi00\")", kAll,
             [](int i) { return lane((i & 32) | 16 | (i & 8) | ((i & 4) ^ 4)); });
  check_move(chip, "ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM, 2, 0, 1, 3)", kAll, [](int i) {
    constexpr int kFrom[] = {2, 0, 1, 3};
    return lane((i & ~3) | kFrom[i & 3]);
  });
  check_move(chip, "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP, 8)", kAll,
             [](int i) { return lane(i ^ 8); });
  check_move(chip, "ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST, 8, 3)", kAll,
             [](int i) { return lane((i & ~7) + 3); });

  WaveRun run(chip, "ds_bpermute_b32 v2, v0, v1\n ds_permute_b32 v3, v0, v1\n");
  for (uint32_t i = 0; i < 64; ++i) {
    run.vgpr(0)[i] = 4 * ((7 * i + 5) % 64);
    run.vgpr(1)[i] = 100 + i;
  }
  run.run();
  for (uint32_t i = 0; i < 64; ++i) {
    CHECK(run.vgpr(2)[i] == 100 + (7 * i + 5) % 64);
    CHECK(run.vgpr(3)[(7 * i + 5) % 64] == 100 + i);
  }
}

TEST_CASE("permlane swaps exchange whole rows, all of them", "[emulator]") {
  const int row = GENERATE(16, 32);
  WaveRun run("gfx950", "v_permlane" + std::to_string(row) + "_swap_b32 v0, v1");
  for (uint32_t i = 0; i < 64; ++i) {
    run.vgpr(0)[i] = i;
    run.vgpr(1)[i] = 100 + i;
  }
  run.run();
  for (int i = 0; i < 64; ++i) {
    INFO("lane " << i);
    const bool odd = (i / row) & 1;
    // vdst's odd rows and src's even rows change places.
    CHECK(run.vgpr(0)[i] == (odd ? lane(i - row) : static_cast<uint32_t>(i)));
    CHECK(run.vgpr(1)[i] == (odd ? lane(i) : static_cast<uint32_t>(i + row)));
  }
}

TEST_CASE("readlane, writelane, readfirstlane, mbcnt", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx90a");
  WaveRun run(chip,
              "v_readlane_b32 s10, v1, 37\n v_writelane_b32 v2, s11, 5\n"
              "v_mbcnt_lo_u32_b32 v3, -1, 0\n v_mbcnt_hi_u32_b32 v3, -1, v3\n"
              "s_mov_b64 exec, 0xf0\n v_readfirstlane_b32 s12, v1\n"
              "s_mov_b64 exec, 0\n v_readfirstlane_b32 s13, v1\n v_writelane_b32 v2, s11, 6\n");
  for (uint32_t i = 0; i < 64; ++i) {
    run.vgpr(1)[i] = 100 + i;
    run.vgpr(2)[i] = 0;
  }
  run.sgpr(11) = 99;
  run.run();
  CHECK(run.sgpr(10) == 137);
  CHECK(run.sgpr(12) == 104);
  CHECK(run.sgpr(13) == 100);  // no lane is on: lane 0
  for (uint32_t i = 0; i < 64; ++i) {
    CHECK(run.vgpr(2)[i] == (i == 5 || i == 6 ? 99 : 0));
    CHECK(run.vgpr(3)[i] == i);
  }
}

TEST_CASE("SDWA selects bytes and words and keeps or extends the rest", "[emulator]") {
  WaveRun run("gfx90a",
              "v_add_u32_sdwa v2, sext(v0), v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
              "src0_sel:BYTE_2 src1_sel:WORD_0\n"
              "v_mov_b32_sdwa v3, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_3\n"
              "v_mov_b32_sdwa v4, v0 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_2\n");
  for (int i = 0; i < 64; ++i) {
    run.vgpr(0)[i] = 0x42ff1234;
    run.vgpr(1)[i] = 0xdead0010;
    run.vgpr(2)[i] = run.vgpr(3)[i] = run.vgpr(4)[i] = 0xaaaabbbb;
  }
  run.run();
  CHECK(run.vgpr(2)[9] == 0x000fbbbb);  // -1 + 16, in the high word
  CHECK(run.vgpr(3)[9] == 0x00004200);
  CHECK(run.vgpr(4)[9] == 0xffffff00);
}

}  // namespace
}  // namespace baton::tests
