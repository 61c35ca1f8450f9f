// What the report counts: bytes, links, LDS bank conflicts.
#include <catch2/catch.hpp>

#include "runtime/emulator/bank_conflicts.h"
#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

using emulator::bank_conflicts;
using emulator::Counters;
using emulator::Emulator;

constexpr uint64_t kAll = ~uint64_t{0};

/// Conflicts when lane i accesses `bytes` at i x stride.
uint64_t strided(uint32_t stride, int bytes, bool load, int banks, uint64_t lanes = kAll) {
  uint32_t addresses[64];
  for (uint32_t i = 0; i < 64; ++i) addresses[i] = i * stride;
  return bank_conflicts(addresses, lanes, bytes, load, banks);
}

TEST_CASE("bank conflicts of strided accesses follow the stated rule", "[emulator]") {
  // Side by side: every width is free of conflicts on either number of banks.
  for (const int bytes : {1, 2, 4, 8, 16}) {
    for (const int banks : {32, 64}) {
      CHECK(strided(static_cast<uint32_t>(bytes), bytes, true, banks) == 0);
      CHECK(strided(static_cast<uint32_t>(bytes), bytes, false, banks) == 0);
    }
  }
  // One word for all lanes is a broadcast.
  CHECK(strided(0, 4, true, 32) == 0);
  CHECK(strided(0, 16, true, 64) == 0);
  // 32 lanes on one of 32 banks: 31 cycles more in each half of the wave.
  CHECK(strided(128, 4, true, 32) == 2 * 31);
  // Of 64 banks a stride of 128 bytes hits two, 32 words each.
  CHECK(strided(128, 4, true, 64) == 31);
  CHECK(strided(8, 4, true, 32) == 2);
  CHECK(strided(8, 4, true, 64) == 1);
  // Two lanes of one half: only their own bank serves twice.
  CHECK(strided(128, 4, true, 32, 0b11) == 1);
  // Lanes of different phases do not meet.
  CHECK(strided(128, 4, true, 32, (uint64_t{1} << 40) | 1) == 0);
  CHECK(strided(256, 8, true, 32) == 4 * 15);
  // 16 bytes at a stride of 64 bytes: 8 lanes of a phase use 2 places of 4 banks each.
  CHECK(strided(64, 16, false, 32) == 8 * 3);
}

TEST_CASE("the 16-byte phases of loads and stores differ", "[emulator]") {
  // Lanes 0 and 4 are in one phase of a store and in two of a load, lanes 0 and 20 the other way.
  uint32_t same_bank[64];
  for (uint32_t i = 0; i < 64; ++i) same_bank[i] = i * 256;
  const auto pair = [&](int a, int b, bool load, int banks) {
    return bank_conflicts(same_bank, uint64_t{1} << a | uint64_t{1} << b, 16, load, banks);
  };
  CHECK(pair(0, 4, false, 32) == 1);
  CHECK(pair(0, 4, true, 32) == 0);
  CHECK(pair(0, 20, false, 32) == 0);
  CHECK(pair(0, 20, true, 32) == 1);
  CHECK(pair(0, 12, true, 32) == 0);
  CHECK(pair(0, 12, true, 64) == 1);
  CHECK(pair(4, 8, true, 64) == 1);
  CHECK(pair(4, 12, true, 64) == 0);
  CHECK(pair(0, 32, true, 64) == 0);
}

emulator::RunReport report_of(const std::string& chip, const std::string& body,
                              emulator::EmulatorOptions options = {}) {
  options.chip = chip;
  Emulator emulator(options);
  Device& device = emulator.device(0);
  const auto module = device.load(compile_text(kernel_text(body, chip), "assembler", chip, "-g"));
  const auto stream = device.create_stream();
  device.launch(module->function("k"), {.grid = {3, 1, 1}, .workgroup = {64, 1, 1}}, Bytes(64),
                *stream);
  device.synchronize(*stream);
  return emulator.report();
}

TEST_CASE("LDS bytes, conflicts and barriers are counted by instruction", "[emulator]") {
  const std::string body =
      "v_lshlrev_b32 v1, 3, v0\n v_mov_b32 v2, 7\n v_mov_b32 v3, 7\n"
      "ds_write_b32 v1, v2\n"                    // every second word: 2 or 1 conflicts
      "ds_read2st64_b32 v[4:5], v1 offset1:2\n"  // the same, twice
      "s_barrier\n s_sleep 1\n s_mov_b64 exec, 1\n"
      "ds_write_b64 v1, v[2:3]\n";  // one lane
  const std::string chip = GENERATE("gfx950", "gfx942");
  const uint64_t each = chip == "gfx950" ? 1 : 2;
  for (const bool counted : {true, false}) {
    const Counters c = report_of(chip, body, {.count_bank_conflicts = counted}).counters;
    CHECK(c.lds_bytes == 3 * (64 * 4 + 64 * 8 + 8));
    CHECK(c.lds_bank_conflicts == (counted ? 3 * 3 * each : 0));
    CHECK(c.barriers == 3);
    CHECK(c.sleeps == 3);
    CHECK(c.steps == 3 * 10);
    CHECK(c.by_class[static_cast<size_t>(emulator::OpClass::lds)] == 3 * 3);
    CHECK(c.by_class[static_cast<size_t>(emulator::OpClass::valu)] == 3 * 3);
  }
}

TEST_CASE("bytes are counted by scope, and for each lane where it lies", "[emulator]") {
  const std::string source = R"(
typedef __attribute__((address_space(1))) unsigned* gp;
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64)))
void k(gp a, gp b, unsigned cut) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  gp to = i < cut ? a : b;
  to[2 * i] = i;
  __scoped_atomic_store_n(a + 200, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_store_n(to + 300 + i, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
}
)";
  Emulator emulator({.chip = "gfx950", .devices = 3});
  Device& device = emulator.device(1);
  device.enable_peer_access(emulator.device(2));
  const DeviceArray<uint32_t> near(device, 1000), far(emulator.device(2), 1000);
  const auto module = device.load(compile_text(source, "c", "gfx950"));
  const auto stream = device.create_stream();
  device.launch(module->function("k"), {.grid = {1, 1, 1}, .workgroup = {64, 1, 1}},
                Arguments().add(near.address()).add(far.address()).add(uint32_t{50}), *stream);
  device.synchronize(*stream);
  const emulator::RunReport report = emulator.report();
  const Counters& c = report.counters;
  CHECK(c.bytes[Counters::kStore][0] == 64 * 4);
  CHECK(c.bytes[Counters::kStore][1] == 64 * 4);
  CHECK(c.bytes[Counters::kStore][2] == 64 * 4);
  CHECK(c.remote_bytes[Counters::kStore] == 2 * 14 * 4);
  CHECK(c.remote_bytes[Counters::kLoad] == 0);
  const std::vector<std::vector<uint64_t>> links = {
      {0, 0, 0}, {0, (50 + 64 + 50) * 4, 2 * 14 * 4}, {0, 0, 0}};
  CHECK(report.stored_bytes == links);
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].kernel == "k");
  CHECK(report.kernels[0].launches == 1);
  REQUIRE(report.kernels[0].stages.size() == 1);
  CHECK(report.kernels[0].stages[0].stage.empty());
}

}  // namespace
}  // namespace baton::tests
