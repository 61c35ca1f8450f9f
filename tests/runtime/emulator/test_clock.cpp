// s_memrealtime: it advances with the work of the machine, and jumps when all wait for it.
#include <catch2/catch.hpp>

#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

using emulator::Emulator;
using emulator::EmulatorOptions;

constexpr uint64_t kTenSeconds = 1'000'000'000;

/// A wait of at most 10 s of the 100 MHz clock, as a diagnostics build has them. Workgroup 0's
/// first wave waits for a word that nobody writes; its other wave waits at the barrier, and all
/// other workgroups wait, without a bound, for what workgroup 0 writes after it gave up.
const std::string kBounded = R"(
typedef __attribute__((address_space(1))) unsigned* gp;
typedef __attribute__((address_space(1))) unsigned long* glp;
#define LOAD(p) __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM)
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(128, 128)))
void k(gp p, glp times) {
  unsigned i = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x();
  if (g != 0) {
    while (LOAD(p + 64) == 0) __builtin_amdgcn_s_sleep(1);
  } else {
    if (i == 0) {
      unsigned long start = __builtin_amdgcn_s_memrealtime(), now = start;
      while (LOAD(p + 20) == 0) {
        now = __builtin_amdgcn_s_memrealtime();
        if (now - start > 1000000000ul) break;
        __builtin_amdgcn_s_sleep(1);
      }
      times[0] = start;
      times[1] = now;
    }
    __builtin_amdgcn_s_barrier();
    if (i == 64) __scoped_atomic_store_n(p + 64, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
  }
  p[128 + g] = g + 1;
}
)";

std::vector<uint64_t> times_of(const EmulatorOptions& options) {
  Emulator emulator(options);
  Device& device = emulator.device(0);
  const DeviceArray<uint32_t> p(device, 256);
  const DeviceArray<uint64_t> times(device, 2);
  const auto module = device.load(compile_text(kBounded, "c", options.chip));
  const auto stream = device.create_stream();
  device.launch(module->function("k"), {.grid = {12, 1, 1}, .workgroup = {128, 1, 1}},
                Arguments().add(p.address()).add(times.address()), *stream);
  device.synchronize(*stream);
  const std::vector<uint32_t> written = p.read();
  for (uint32_t g = 0; g < 12; ++g) CHECK(written[128 + g] == g + 1);
  return times.read();
}

TEST_CASE("a bounded wait expires though everybody waits", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx90a");
  EmulatorOptions options{.chip = chip};
  SECTION("one thread") {}
  SECTION("two threads") { options.threads = 2; }
  SECTION("a seed") { options.seed = 11; }
  const std::vector<uint64_t> times = times_of(options);
  CHECK(times[1] - times[0] > kTenSeconds);
  // The clock jumps as far as is waited for, and not for ever.
  CHECK(times[1] - times[0] < 3 * kTenSeconds);
}

TEST_CASE("a wait for the clock ends while another wave works without end", "[emulator]") {
  const std::string source = R"(
typedef __attribute__((address_space(1))) unsigned* gp;
#define LOAD(p) __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM)
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64)))
void k(gp p) {
  if (__builtin_amdgcn_workgroup_id_x() == 0) {
    unsigned long start = __builtin_amdgcn_s_memrealtime();
    while (__builtin_amdgcn_s_memrealtime() - start < 100) __builtin_amdgcn_s_sleep(1);
    __scoped_atomic_store_n(p, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
  } else {
    unsigned turns = 0;
    while (LOAD(p) == 0) turns += turns + 3;
    p[1] = turns | 1;
  }
}
)";
  EmulatorOptions options{.chip = "gfx950"};
  SECTION("one thread") {}
  SECTION("two threads") { options.threads = 2; }
  SECTION("a seed") { options.seed = 5; }
  Emulator emulator(options);
  Device& device = emulator.device(0);
  const DeviceArray<uint32_t> p(device, 64);
  const auto module = device.load(compile_text(source, "c", options.chip));
  const auto stream = device.create_stream();
  device.launch(module->function("k"), {.grid = {2, 1, 1}, .workgroup = {64, 1, 1}},
                Arguments().add(p.address()), *stream);
  device.synchronize(*stream);
  CHECK(p.read()[1] % 2 == 1);
}

TEST_CASE("the clock is a part of what a seed decides", "[emulator]") {
  const auto once = times_of({.chip = "gfx950", .seed = 3});
  CHECK(times_of({.chip = "gfx950", .seed = 3}) == once);
}

TEST_CASE("the clock ticks once in 512 wave instructions", "[emulator]") {
  // 1000 rounds of 5 instructions between two readings, in one slice of the wave.
  WaveRun run("gfx942",
              "s_memrealtime s[20:21]\n s_movk_i32 s10, 0x3e8\n"
              "loop:\n s_nop 0\n s_nop 0\n s_sub_u32 s10, s10, 1\n s_cmp_lg_u32 s10, 0\n"
              "s_cbranch_scc1 loop\n s_memrealtime s[22:23]\n");
  run.run();
  const auto ticks = run.sgpr(22) - run.sgpr(20);
  CHECK(ticks >= 5000 / 512);
  CHECK(ticks <= 5000 / 512 + 1);
}

}  // namespace
}  // namespace baton::tests
