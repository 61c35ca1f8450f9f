// Buffer addressing and range checks. Expected values follow from the ISA documents' rules.
#include <catch2/catch.hpp>

#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

void fill_memory(WaveRun& run, uint32_t words) {
  for (uint32_t i = 0; i < words; ++i) {
    const uint32_t value = 0x1000 + i;
    std::memcpy(run.memory() + 4 * i, &value, 4);
  }
}

TEST_CASE("buffer loads add vaddr, soffset and the immediate", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  WaveRun run(chip,
              "buffer_load_dword v1, v0, s[4:7], s8 offen offset:16\n"
              "buffer_load_dword v2, off, s[4:7], 64\n"  // an inline constant, not s64
              "buffer_load_dwordx4 v[4:7], v3, s[4:7], 0 offen\n");
  fill_memory(run, 4096);
  run.set_buffer(4, 4096 * 4);
  run.sgpr(8) = 32;
  run.sgpr(64) = 0;
  for (uint32_t i = 0; i < 64; ++i) {
    run.vgpr(0)[i] = 4 * (63 - i);
    run.vgpr(3)[i] = 16 * i;
  }
  run.run();
  for (uint32_t i = 0; i < 64; ++i) {
    INFO("lane " << i);
    CHECK(run.vgpr(1)[i] == 0x1000 + (4 * (63 - i) + 48) / 4);
    CHECK(run.vgpr(2)[i] == 0x1000 + 16);
    for (uint32_t k = 0; k < 4; ++k)
      CHECK(run.vgpr(4 + static_cast<int>(k))[i] == 0x1000 + 4 * i + k);
  }
}

TEST_CASE("the range check counts soffset; each word stands for itself", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  WaveRun run(chip,
              "buffer_load_dword v1, v0, s[4:7], s8 offen\n"
              "buffer_load_dwordx2 v[2:3], v0, s[4:7], s8 offen\n"
              "buffer_store_dword v9, v0, s[4:7], s8 offen\n");
  fill_memory(run, 256);
  run.set_buffer(4, 128);  // 32 words
  run.sgpr(8) = 64;
  for (uint32_t i = 0; i < 64; ++i) {
    run.vgpr(0)[i] = 4 * i;
    run.vgpr(1)[i] = run.vgpr(2)[i] = run.vgpr(3)[i] = 7;
    run.vgpr(9)[i] = 0x900 + i;
  }
  run.run();
  for (uint32_t i = 0; i < 64; ++i) {
    INFO("lane " << i);
    // offset + 64 must lie below 128: lanes 0 to 15.
    CHECK(run.vgpr(1)[i] == (i < 16 ? 0x1000 + 16 + i : 0));
    CHECK(run.vgpr(2)[i] == (i < 16 ? 0x1000 + 16 + i : 0));
    CHECK(run.vgpr(3)[i] == (i < 15 ? 0x1000 + 17 + i : 0));
  }
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t word;
    std::memcpy(&word, run.memory() + 4 * i, 4);
    INFO("word " << i);
    CHECK(word == (i >= 16 && i < 32 ? 0x900 + i - 16 : 0x1000 + i));
  }
}

TEST_CASE("a structured buffer counts records", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx90a");
  WaveRun run(chip, "buffer_load_dword v1, v0, s[4:7], 0 idxen offset:4\n");
  fill_memory(run, 1024);
  run.set_buffer(4, 40, 12);
  for (uint32_t i = 0; i < 64; ++i) run.vgpr(0)[i] = i;
  run.run();
  for (uint32_t i = 0; i < 64; ++i) {
    CHECK(run.vgpr(1)[i] == (i < 40 ? 0x1000 + 3 * i + 1 : 0));
  }
}

TEST_CASE("lanes that are off neither load nor store", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx90a");
  WaveRun run(chip,
              "s_mov_b32 exec_lo, 0x0000ff01\n s_mov_b32 exec_hi, 0x80000000\n"
              "buffer_load_dwordx2 v[2:3], v0, s[4:7], 0 offen\n"
              "buffer_store_dword v9, v0, s[4:7], 0 offen offset:1024\n");
  fill_memory(run, 1024);
  run.set_buffer(4, 4096);
  for (uint32_t i = 0; i < 64; ++i) {
    run.vgpr(0)[i] = 8 * i;
    run.vgpr(2)[i] = run.vgpr(3)[i] = 5;
    run.vgpr(9)[i] = 0xabc;
  }
  run.run();
  for (uint32_t i = 0; i < 64; ++i) {
    const bool on = i == 0 || (i >= 8 && i < 16) || i == 63;
    INFO("lane " << i);
    CHECK(run.vgpr(2)[i] == (on ? 0x1000 + 2 * i : 5));
    CHECK(run.vgpr(3)[i] == (on ? 0x1001 + 2 * i : 5));
    uint32_t word;
    std::memcpy(&word, run.memory() + 1024 + 8 * i, 4);
    CHECK(word == (on ? 0xabc : 0x1000 + 256 + 2 * i));
  }
}

}  // namespace
}  // namespace baton::tests
