// Whole launches: grids, barriers, LDS, arguments, several devices that wait for each other.
#include <catch2/catch.hpp>

#include "tests/runtime/emulator/support.h"

namespace baton::tests {
namespace {

using emulator::Emulator;
using emulator::EmulatorOptions;

constexpr const char* kCommon = R"(
typedef unsigned int u32;
typedef unsigned long u64;
#define KERNEL __attribute__((amdgpu_kernel))
#define LANES(n) __attribute__((amdgpu_flat_work_group_size(n, n)))
static u32 gid(void) { return __builtin_amdgcn_workgroup_id_x(); }
static u32 lid(void) { return __builtin_amdgcn_workitem_id_x(); }
)";

TEST_CASE("a grid adds two arrays", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  const std::string source = std::string(kCommon) + R"(
KERNEL LANES(96) void add(__attribute__((address_space(1))) float* out,
                 const __attribute__((address_space(1))) float* a,
                 const __attribute__((address_space(1))) float* b, u32 n) {
  u32 i = gid() * 96 + lid();
  if (i < n) out[i] = a[i] + b[i] * 2.0f;
})";
  Emulator emulator({.chip = chip});
  Device& device = emulator.device(0);
  constexpr size_t n = 1000;
  std::vector<float> a(n), b(n);
  for (size_t i = 0; i < n; ++i) {
    a[i] = 0.1f * static_cast<float>(i);
    b[i] = 1.0f / static_cast<float>(i + 1);
  }
  DeviceArray<float> da(device, a), db(device, b), out(device, n);
  const auto module = device.load(compile_text(source, "c", chip));
  const auto stream = device.create_stream();
  device.launch(module->function("add"), {.grid = {11, 1, 1}, .workgroup = {96, 1, 1}},
                Arguments().add(out.address()).add(da.address()).add(db.address()).add(uint32_t{n}),
                *stream);
  device.synchronize(*stream);
  const std::vector<float> result = out.read();
  for (size_t i = 0; i < n; ++i) {
    INFO("element " << i);
    const float fused = __builtin_fmaf(b[i], 2.0f, a[i]);  // b x 2 is exact
    REQUIRE(result[i] == fused);
  }
}

constexpr const char* kRing = R"(
// Workgroup g of device r waits for the word that workgroup g of device r - 1 writes, adds its own
// and passes it on; device 0 starts. All wait at once.
typedef __attribute__((address_space(1))) u32* gp;
#define LOAD(p) __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM)
#define STORE(p, x) __scoped_atomic_store_n(p, x, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM)
KERNEL LANES(512) void ring(const __attribute__((address_space(1))) u64* peers, u32 rank, u32 ranks,
                            gp out) {
  __attribute__((address_space(3), loader_uninitialized)) static u32 seen;
  u32 g = gid();
  gp mine = (gp)peers[rank];
  gp next = (gp)peers[(rank + 1) % ranks];
  if (lid() == 0) {
    u32 value = 0;
    if (rank != 0) {
      while ((value = LOAD(mine + g)) == 0)
        __builtin_amdgcn_s_sleep(1);
    }
    STORE(next + g, value + rank + g + 1);
    if (rank == 0) {
      while ((value = LOAD(mine + g)) == 0)
        __builtin_amdgcn_s_sleep(1);
    }
    seen = value;
  }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[g * 512 + lid()] = seen;
})";

std::vector<std::vector<uint32_t>> run_ring(const EmulatorOptions& options, uint32_t groups) {
  Emulator emulator(options);
  const uint32_t ranks = static_cast<uint32_t>(options.devices);
  const Bytes& code = compile_text(std::string(kCommon) + kRing, "c", options.chip);
  std::vector<uint64_t> mailboxes;
  for (uint32_t r = 0; r < ranks; ++r) {
    mailboxes.push_back(
        emulator.device(static_cast<int>(r)).allocate(groups * 4, MemoryKind::fine_grained));
  }
  std::vector<DeviceArray<uint32_t>> outs;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Stream>> streams;
  for (uint32_t r = 0; r < ranks; ++r) {
    Device& device = emulator.device(static_cast<int>(r));
    for (uint32_t p = 0; p < ranks; ++p) {
      if (p != r) device.enable_peer_access(emulator.device(static_cast<int>(p)));
    }
    const DeviceArray<uint64_t> peers(device, mailboxes);
    outs.emplace_back(device, groups * 512);
    modules.push_back(device.load(code));
    streams.push_back(device.create_stream());
    device.launch(modules.back()->function("ring"),
                  {.grid = {groups, 1, 1}, .workgroup = {512, 1, 1}},
                  Arguments().add(peers.address()).add(r).add(ranks).add(outs.back().address()),
                  *streams.back());
  }
  emulator.synchronize();
  std::vector<std::vector<uint32_t>> results;
  for (const auto& out : outs) results.push_back(out.read());
  return results;
}

TEST_CASE("workgroups of eight devices wait for each other", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  EmulatorOptions options{.chip = chip, .devices = 8};
  SECTION("one thread") {}
  SECTION("two threads") { options.threads = 2; }
  SECTION("seed 1") { options.seed = 1; }
  SECTION("seed 2") { options.seed = 2; }
  constexpr uint32_t groups = 64;
  const auto results = run_ring(options, groups);
  for (uint32_t r = 0; r < 8; ++r) {
    for (uint32_t g = 0; g < groups; ++g) {
      // What the ranks before have added: each its number, g and 1; device 0 sees the whole ring's
      // sum.
      const uint32_t before = r == 0 ? 8 : r;
      const uint32_t expected = before * (before - 1) / 2 + before * (g + 1);
      INFO("rank " << r << " group " << g);
      REQUIRE(results[r][g * 512] == expected);
      REQUIRE(results[r][g * 512 + 511] == expected);
    }
  }
}

}  // namespace
}  // namespace baton::tests
