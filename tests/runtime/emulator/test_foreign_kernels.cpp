// C kernels that know nothing of Baton, compiled by clang: what they compute is checked against
// plain host loops.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/runtime/emulator/support.h"

namespace baton::tests {
namespace {

using emulator::Emulator;
using emulator::EmulatorOptions;

const std::string kPrelude = R"(
typedef unsigned int u32; typedef unsigned long u64; typedef unsigned short u16;
typedef _Float16 h16;
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3), loader_uninitialized))
#define KERNEL __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256))) void
#define gid __builtin_amdgcn_workgroup_id_x()
#define lid __builtin_amdgcn_workitem_id_x()
static void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
)";

/// Everything that a test of one kernel needs.
struct Bench {
  Bench(const std::string& source, const EmulatorOptions& options)
      : emulator(options),
        device(emulator.device(0)),
        module(device.load(compile_text(kPrelude + source, "c", options.chip, "-O2 -w"))),
        stream(device.create_stream()) {}
  void run(uint32_t grid, ByteView arguments) {
    device.launch(module->function("k"), {.grid = {grid, 1, 1}, .workgroup = {256, 1, 1}},
                  arguments, *stream);
    device.synchronize(*stream);
  }
  Emulator emulator;
  Device& device;
  std::unique_ptr<Module> module;
  std::unique_ptr<Stream> stream;
};

std::vector<EmulatorOptions> modes() {
  std::vector<EmulatorOptions> all;
  for (const char* chip : {"gfx950", "gfx942", "gfx90a"}) {
    all.push_back({.chip = chip});
    all.push_back({.chip = chip, .seed = 7});
  }
  all.push_back({.chip = "gfx950", .threads = 3});
  return all;
}

std::vector<uint32_t> random_words(size_t count, uint32_t below, uint32_t seed = 3) {
  std::mt19937 random(seed);
  std::vector<uint32_t> words(count);
  for (uint32_t& w : words) w = below ? random() % below : random();
  return words;
}

TEST_CASE("foreign: reduction", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
KERNEL k(const GLOBAL u32* in, GLOBAL u32* out, u32 n) {
  LDS static u32 part[256];
  u32 sum = 0;
  for (u32 i = gid * 256 + lid; i < n; i += 4 * 256) sum += in[i];
  part[lid] = sum;
  barrier();
  for (u32 s = 128; s > 0; s >>= 1) { if (lid < s) part[lid] += part[lid + s]; barrier(); }
  if (lid == 0) __scoped_atomic_fetch_add(out, part[0], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
})",
                options);
    const auto in = random_words(10007, 1000);
    const DeviceArray<uint32_t> a(bench.device, in), out(bench.device, 1);
    bench.run(4, Arguments().add(a.address()).add(out.address()).add(uint32_t{10007}));
    CHECK(out.read()[0] == std::accumulate(in.begin(), in.end(), 0u));
  }
}

TEST_CASE("foreign: transpose through LDS", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
KERNEL k(const GLOBAL u32* in, GLOBAL u32* out, u32 n) {
  LDS static u32 tile[16][17];
  u32 tiles = n / 16, bx = gid % tiles * 16, by = gid / tiles * 16, x = lid % 16, y = lid / 16;
  tile[y][x] = in[(by + y) * n + bx + x];
  barrier();
  out[(bx + y) * n + by + x] = tile[x][y];
})",
                options);
    constexpr uint32_t n = 64;
    const auto in = random_words(n * n, 0);
    const DeviceArray<uint32_t> a(bench.device, in), out(bench.device, n * n);
    bench.run(16, Arguments().add(a.address()).add(out.address()).add(n));
    const auto result = out.read();
    for (uint32_t y = 0; y < n; ++y) {
      for (uint32_t x = 0; x < n; ++x) REQUIRE(result[x * n + y] == in[y * n + x]);
    }
  }
}

TEST_CASE("foreign: histogram with atomics", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
KERNEL k(const GLOBAL u32* in, GLOBAL u32* bins, u32 n) {
  LDS static u32 local[64];
  if (lid < 64) local[lid] = 0;
  barrier();
  for (u32 i = gid * 256 + lid; i < n; i += 3 * 256)
    __scoped_atomic_fetch_add(&local[in[i] & 63], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  barrier();
  if (lid < 64)
    __scoped_atomic_fetch_add(bins + lid, local[lid], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
})",
                options);
    const auto in = random_words(5000, 64);
    const DeviceArray<uint32_t> a(bench.device, in), bins(bench.device, 64);
    bench.run(3, Arguments().add(a.address()).add(bins.address()).add(uint32_t{5000}));
    std::vector<uint32_t> expected(64);
    for (uint32_t v : in) ++expected[v];
    CHECK(bins.read() == expected);
  }
}

TEST_CASE("foreign: bf16 GEMM with matrix instructions", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    // D = A B^T, 64 x 64 x 64; wave w makes rows 16 w. Small integers: every sum is exact.
    Bench bench(R"(
typedef short s4 __attribute__((vector_size(8)));
typedef float f4 __attribute__((vector_size(16)));
KERNEL k(const GLOBAL u16* a, const GLOBAL u16* b, GLOBAL float* d) {
  u32 wave = lid / 64, lane = lid % 64, row = lane % 16, q = lane / 16;
  for (u32 col = 0; col < 4; col++) {
    f4 acc = {0, 0, 0, 0};
    for (u32 kk = 0; kk < 64; kk += 16) {
      s4 x = *(const GLOBAL s4*)(a + (wave * 16 + row) * 64 + kk + q * 4);
      s4 y = *(const GLOBAL s4*)(b + (col * 16 + row) * 64 + kk + q * 4);
      acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, acc, 0, 0, 0);
    }
    for (u32 i = 0; i < 4; i++) d[(wave * 16 + q * 4 + i) * 64 + col * 16 + row] = acc[i];
  }
})",
                options);
    std::mt19937 random(1);
    std::vector<uint16_t> a(64 * 64), b(64 * 64);
    std::vector<float> fa(64 * 64), fb(64 * 64);
    for (size_t i = 0; i < a.size(); ++i) {
      fa[i] = static_cast<float>(static_cast<int>(random() % 17) - 8);
      fb[i] = static_cast<float>(static_cast<int>(random() % 17) - 8);
      uint32_t bits;
      std::memcpy(&bits, &fa[i], 4);
      a[i] = static_cast<uint16_t>(bits >> 16);
      std::memcpy(&bits, &fb[i], 4);
      b[i] = static_cast<uint16_t>(bits >> 16);
    }
    const DeviceArray<uint16_t> da(bench.device, a), db(bench.device, b);
    const DeviceArray<float> out(bench.device, 64 * 64);
    bench.run(1, Arguments().add(da.address()).add(db.address()).add(out.address()));
    const auto d = out.read();
    for (size_t i = 0; i < 64; ++i) {
      for (size_t j = 0; j < 64; ++j) {
        float sum = 0;
        for (size_t k = 0; k < 64; ++k) sum += fa[i * 64 + k] * fb[j * 64 + k];
        REQUIRE(d[i * 64 + j] == sum);
      }
    }
  }
}

TEST_CASE("foreign: scan", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
KERNEL k(const GLOBAL u32* in, GLOBAL u32* out) {
  LDS static u32 t[2][256];
  u32 p = 0;
  t[0][lid] = in[gid * 256 + lid];
  barrier();
  for (u32 s = 1; s < 256; s *= 2) {
    u32 v = t[p][lid] + (lid >= s ? t[p][lid - s] : 0);
    p ^= 1;
    t[p][lid] = v;
    barrier();
  }
  out[gid * 256 + lid] = t[p][lid];
})",
                options);
    const auto in = random_words(512, 1000);
    const DeviceArray<uint32_t> a(bench.device, in), out(bench.device, 512);
    bench.run(2, Arguments().add(a.address()).add(out.address()));
    std::vector<uint32_t> expected(512);
    for (size_t half = 0; half < 512; half += 256) {
      std::partial_sum(in.begin() + static_cast<ptrdiff_t>(half),
                       in.begin() + static_cast<ptrdiff_t>(half) + 256,
                       expected.begin() + static_cast<ptrdiff_t>(half));
    }
    CHECK(out.read() == expected);
  }
}

TEST_CASE("foreign: a spin lock across workgroups", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    // Not atomic between load and store: only the lock keeps the sum whole.
    Bench bench(R"(
KERNEL k(GLOBAL u32* lock, volatile GLOBAL u32* sum) {
  if (lid % 64 != 0) return;
  for (u32 i = 0; i < 5; i++) {
    u32 expected;
    do { expected = 0; } while (!__scoped_atomic_compare_exchange_n(lock, &expected, 1, 0,
        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
    u32 v = *sum;
    *sum = v + gid + 1;
    __scoped_atomic_store_n(lock, 0, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
  }
})",
                options);
    const DeviceArray<uint32_t> lock(bench.device, 1), sum(bench.device, 1);
    bench.run(20, Arguments().add(lock.address()).add(sum.address()));
    CHECK(sum.read()[0] == 20 * 21 / 2 * 4 * 5);
  }
}

TEST_CASE("foreign: 64-bit hash", "[emulator][foreign]") {
  const auto hash = [](uint64_t x) {
    for (int i = 0; i < 3; ++i) {
      x ^= x >> 30;
      x *= 0xbf58476d1ce4e5b9;
      x ^= x >> 27;
      x = x * 0x94d049bb133111eb + (x % 1000003) / 7;
    }
    return x;
  };
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
KERNEL k(GLOBAL u64* p) {
  u64 x = p[gid * 256 + lid];
  for (int i = 0; i < 3; i++) {
    x ^= x >> 30; x *= 0xbf58476d1ce4e5b9ul; x ^= x >> 27;
    x = x * 0x94d049bb133111ebul + (x % 1000003) / 7;
  }
  p[gid * 256 + lid] = x;
})",
                options);
    std::vector<uint64_t> values(512);
    std::mt19937_64 random(9);
    for (uint64_t& v : values) v = random();
    const DeviceArray<uint64_t> p(bench.device, values);
    bench.run(2, Arguments().add(p.address()));
    std::ranges::transform(values, values.begin(), hash);
    CHECK(p.read() == values);
  }
}

TEST_CASE("foreign: fp16 conversion, all 65536 codes", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
KERNEL k(GLOBAL float* up, GLOBAL u16* back) {
  u32 i = gid * 256 + lid;
  u16 bits = i;
  h16 x;
  __builtin_memcpy(&x, &bits, 2);
  up[i] = (float)x;
  x = (h16)(up[i] * 1.0009765625f);
  __builtin_memcpy(&bits, &x, 2);
  back[i] = bits;
})",
                options);
    const DeviceArray<float> up(bench.device, 65536);
    const DeviceArray<uint16_t> back(bench.device, 65536);
    bench.run(256, Arguments().add(up.address()).add(back.address()));
    const auto values = up.read();
    for (uint32_t i = 0; i < 65536; ++i) {
      const uint32_t field = i >> 10 & 31, fraction = i & 1023;
      float expected = field == 31  ? (fraction ? NAN : INFINITY)
                       : field == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                    : std::ldexp(static_cast<float>(1024 + fraction),
                                                 static_cast<int>(field) - 25);
      if (i >> 15) expected = -expected;
      if (std::isnan(expected)) {
        REQUIRE(std::isnan(values[i]));
      } else {
        REQUIRE(values[i] == expected);
      }
    }
  }
}

TEST_CASE("foreign: softmax", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
KERNEL k(GLOBAL float* p) {
  LDS static float t[256];
  float x = p[gid * 256 + lid];
  t[lid] = x;
  barrier();
  for (u32 s = 128; s; s >>= 1) {
    if (lid < s) t[lid] = __builtin_fmaxf(t[lid], t[lid + s]);
    barrier();
  }
  float e = __builtin_amdgcn_exp2f((x - t[0]) * 1.4426950408889634f);
  barrier();
  t[lid] = e;
  barrier();
  for (u32 s = 128; s; s >>= 1) { if (lid < s) t[lid] += t[lid + s]; barrier(); }
  p[gid * 256 + lid] = e / t[0];
})",
                options);
    std::vector<float> x(512);
    std::mt19937 random(2);
    for (float& v : x) v = static_cast<float>(random() % 2000) / 100.0f - 10.0f;
    const DeviceArray<float> p(bench.device, x);
    bench.run(2, Arguments().add(p.address()));
    const auto result = p.read();
    for (size_t row = 0; row < 512; row += 256) {
      double sum = 0;
      for (size_t i = 0; i < 256; ++i) sum += std::exp(static_cast<double>(x[row + i]));
      for (size_t i = 0; i < 256; ++i) {
        const double expected = std::exp(static_cast<double>(x[row + i])) / sum;
        REQUIRE(std::fabs(static_cast<double>(result[row + i]) - expected) < 1e-5 * expected);
      }
    }
  }
}

TEST_CASE("foreign: bitonic sort", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
KERNEL k(GLOBAL u32* p) {
  LDS static u32 t[256];
  t[lid] = p[gid * 256 + lid];
  barrier();
  for (u32 size = 2; size <= 256; size *= 2)
    for (u32 step = size / 2; step; step /= 2) {
      u32 other = lid ^ step;
      if (other > lid) {
        u32 a = t[lid], b = t[other];
        if ((a > b) == !(lid & size)) { t[lid] = b; t[other] = a; }
      }
      barrier();
    }
  p[gid * 256 + lid] = t[lid];
})",
                options);
    auto values = random_words(1024, 0);
    const DeviceArray<uint32_t> p(bench.device, values);
    bench.run(4, Arguments().add(p.address()));
    for (size_t row = 0; row < 1024; row += 256) {
      std::sort(values.begin() + static_cast<ptrdiff_t>(row),
                values.begin() + static_cast<ptrdiff_t>(row) + 256);
    }
    CHECK(p.read() == values);
  }
}

TEST_CASE("foreign: calls through a function pointer, recursion on the private stack",
          "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
__attribute__((noinline)) static u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static u32 twice(u32 n) { return 2 * n; }
typedef u32 (*fn)(u32);
KERNEL k(GLOBAL u32* p, u32 which) {
  fn f = which ? twice : fib;
  p[lid] = f(lid % 9) + fib(3);
})",
                options);
    const DeviceArray<uint32_t> p(bench.device, 256);
    constexpr uint32_t kFib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21};
    bench.run(1, Arguments().add(p.address()).add(uint32_t{0}));
    const auto first = p.read();
    for (uint32_t i = 0; i < 256; ++i) REQUIRE(first[i] == kFib[i % 9] + 2);
    bench.run(1, Arguments().add(p.address()).add(uint32_t{1}));
    const auto second = p.read();
    for (uint32_t i = 0; i < 256; ++i) REQUIRE(second[i] == 2 * (i % 9) + 2);
  }
}

TEST_CASE("foreign: flat pointers to LDS and private memory", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench(R"(
__attribute__((noinline)) static void add(u32* p, u32 v) { *p += v; }
KERNEL k(GLOBAL u32* out) {
  LDS static u32 shared[256];
  u32 mine[4] = {1, 2, 3, 4};
  shared[lid] = lid;
  barrier();
  add((u32*)&shared[lid], 5);
  add(&mine[lid & 3], 7);
  add((u32*)(out + lid), shared[lid] * 100 + mine[lid & 3]);
})",
                options);
    const DeviceArray<uint32_t> out(bench.device, 256);
    bench.run(1, Arguments().add(out.address()));
    const auto result = out.read();
    for (uint32_t i = 0; i < 256; ++i) REQUIRE(result[i] == (i + 5) * 100 + (i & 3) + 8);
  }
}

}  // namespace
}  // namespace baton::tests
