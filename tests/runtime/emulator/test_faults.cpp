// What goes wrong in a kernel stops it, and says what, who and where.
#include <catch2/catch.hpp>

#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

using emulator::Emulator;
using emulator::EmulatorOptions;

/// What a launch of `source`'s kernel k with one pointer argument says.
std::string failure_of(const std::string& source, uint64_t offset, EmulatorOptions options,
                       uint32_t grid = 2, bool freed = false) {
  Emulator emulator(options);
  Device& device = emulator.device(0);
  const DeviceAddress buffer = device.allocate(4096, MemoryKind::normal);
  const auto module = device.load(compile_text(source, "c", options.chip, "-O2 -g"));
  const auto stream = device.create_stream();
  if (freed) device.release(buffer);
  device.launch(module->function("k"), {.grid = {grid, 1, 1}, .workgroup = {128, 1, 1}},
                Arguments().add(buffer + offset), *stream);
  try {
    device.synchronize(*stream);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed_check);
    // The device does nothing more, and says so each time.
    CHECK_THROWS_AS(device.synchronize(*stream), Error);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text << "\nlacks: " << part);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

const std::string kStore = R"(
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(128, 128)))
void k(__attribute__((address_space(1))) unsigned* p) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 128 + __builtin_amdgcn_workitem_id_x();
  p[i * 4] = i;
}
)";

TEST_CASE("an address past a buffer's end is reported with lane, place and line", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  const int threads = GENERATE(1, 2);
  // 256 stores of 16 bytes fill the buffer exactly.
  CHECK(failure_of(kStore, 0, {.chip = chip, .threads = threads}) == "");
  const std::string what = failure_of(kStore, 4096 - 16 * 200, {.chip = chip, .threads = threads});
  contains(what, "kernel k, device 0, workgroup 1, wave 1, lane 8: store of 4 bytes at 0x");
  contains(what, ": 0 bytes behind the end of buffer 0x");
  contains(what, "(4096 bytes, device 0)");
  contains(what, "kernel.c:5)");
}

TEST_CASE("an address off by a page, and a freed buffer", "[emulator]") {
  contains(failure_of(kStore, 4096, {.chip = "gfx950"}), "0 bytes behind the end of buffer");
  contains(failure_of(kStore, uint64_t(0) - 4096, {.chip = "gfx950"}), "store of 4 bytes");
  contains(failure_of(kStore, 0, {.chip = "gfx950"}, 2, true), "in freed buffer 0x");
}

TEST_CASE("memory of a peer is out of reach until access is enabled", "[emulator]") {
  Emulator emulator({.chip = "gfx950", .devices = 2});
  Device& device = emulator.device(0);
  const DeviceAddress far = emulator.device(1).allocate(4096, MemoryKind::fine_grained);
  const auto module = device.load(compile_text(kStore, "c", "gfx950", "-O2 -g"));
  SECTION("not enabled") {
    const auto stream = device.create_stream();
    device.launch(module->function("k"), {.grid = {2, 1, 1}, .workgroup = {128, 1, 1}},
                  Arguments().add(far), *stream);
    try {
      emulator.synchronize();
      FAIL("the store went through");
    } catch (const Error& error) {
      contains(error.what(), "of device 1, to which device 0 has no access");
    }
  }
  SECTION("enabled") {
    device.enable_peer_access(emulator.device(1));
    const auto stream = device.create_stream();
    device.launch(module->function("k"), {.grid = {2, 1, 1}, .workgroup = {128, 1, 1}},
                  Arguments().add(far), *stream);
    emulator.synchronize();
  }
}

const std::string kWait = R"(
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(128, 128)))
void k(__attribute__((address_space(1))) unsigned* p) {
  if (__builtin_amdgcn_workgroup_id_x() == 1 && __builtin_amdgcn_workitem_id_x() == 0) {
    while (__scoped_atomic_load_n(p + 20, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM) == 0)
      SLEEP;
  }
  __builtin_amdgcn_s_barrier();
  p[64] = 1;
}
)";

TEST_CASE("a wait that nobody ends is reported, with and without sleep", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx90a");
  const std::string sleep = GENERATE("__builtin_amdgcn_s_sleep(1)", "");
  EmulatorOptions options{.chip = chip};
  SECTION("one thread") {}
  SECTION("two threads") { options.threads = 2; }
  SECTION("a seed") { options.seed = 3; }
  std::string source = kWait;
  source.replace(source.find("SLEEP"), 5, sleep);
  const std::string what = failure_of(source, 0, options);
  contains(what, "the launch hangs: none of its 2 live waves can go on");
  contains(what, "device 0: 1 wave re-reading in ");
  contains(what, "kernel.c:5)");
  contains(what, "e.g. workgroup 1 wave 0: saw 0x0 at 0x10000000050");
  contains(what, "device 0: 1 wave at the barrier in ");
}

TEST_CASE("a wait bounded by the clock ends without real time", "[emulator]") {
  const std::string source = R"(
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(128, 128)))
void k(__attribute__((address_space(1))) unsigned* p) {
  unsigned long start = __builtin_readcyclecounter();
  start = __builtin_amdgcn_s_memrealtime();
  while (__scoped_atomic_load_n(p + 20, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM) == 0) {
    if (__builtin_amdgcn_s_memrealtime() - start > 1000000000ul) break;
    __builtin_amdgcn_s_sleep(1);
  }
  p[64] = 1;
}
)";
  CHECK(failure_of(source, 0, {.chip = "gfx950"}) == "");
  CHECK(failure_of(source, 0, {.chip = "gfx90a", .seed = 1}) == "");
}

TEST_CASE("a wait bounded by a count of tries is not taken for a hang", "[emulator]") {
  const std::string source = R"(
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(128, 128)))
void k(__attribute__((address_space(1))) unsigned* p) {
  for (unsigned n = 0; n < 3000; ++n) {
    if (__scoped_atomic_load_n(p + 20, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM) != 0) break;
    __builtin_amdgcn_s_sleep(1);
  }
  p[64] = 1;
}
)";
  CHECK(failure_of(source, 0, {.chip = "gfx950"}) == "");
  CHECK(failure_of(source, 0, {.chip = "gfx942", .seed = 1}) == "");
}

TEST_CASE("an instruction without a handler stops the wave and is named", "[emulator]") {
  // A scalar atomic, which LLVM decodes and the emulator does not claim.
  WaveRun run("gfx90a", "s_mov_b32 s20, 1\n .long 0xc1000004, 0x00000010\n s_mov_b32 s20, 2\n");
  CHECK_THROWS_WITH(run.run(), "this instruction is not emulated");
  CHECK(run.sgpr(20) == 1);
}

TEST_CASE("bytes that are no instruction stop the wave", "[emulator]") {
  WaveRun run("gfx950", "s_mov_b32 s20, 1\n .long 0xffffffff\n s_mov_b32 s20, 2\n");
  CHECK_THROWS_WITH(run.run(), "this instruction is not emulated");
  CHECK(run.sgpr(20) == 1);
}

TEST_CASE("LDS past the workgroup's bytes is a fault", "[emulator]") {
  WaveRun run("gfx950", "ds_read_b32 v1, v0 offset:4\n");
  for (uint32_t i = 0; i < 64; ++i) run.vgpr(0)[i] = i == 11 ? 4092 : 0;
  CHECK_THROWS_WITH(run.run(), Catch::Contains("4 bytes at LDS offset 4096") &&
                                   Catch::Contains("the workgroup has 4096 bytes"));
}

}  // namespace
}  // namespace baton::tests
