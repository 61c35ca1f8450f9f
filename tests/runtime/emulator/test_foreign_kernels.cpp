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

/// Everything that a test of one kernel of tests/support/kernels needs.
struct Bench {
  Bench(const std::string& kernel, const EmulatorOptions& options)
      : emulator(options),
        device(emulator.device(0)),
        module(device.load(compile_text("#include \"" + kernel + ".c\"\n", "c", options.chip,
                                        "-O2 -I" BATON_TEST_KERNELS))),
        name(kernel),
        stream(device.create_stream()) {}
  void run(uint32_t grid, ByteView arguments) {
    device.launch(module->function(name), {.grid = {grid, 1, 1}, .workgroup = {256, 1, 1}},
                  arguments, *stream);
    device.synchronize(*stream);
  }
  Emulator emulator;
  Device& device;
  std::unique_ptr<Module> module;
  std::string name;
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
    Bench bench("reduce", options);
    const auto in = random_words(10007, 1000);
    const DeviceArray<uint32_t> a(bench.device, in), out(bench.device, 1);
    bench.run(4, Arguments().add(a.address()).add(out.address()).add(uint32_t{10007}));
    CHECK(out.read()[0] == std::accumulate(in.begin(), in.end(), 0u));
  }
}

TEST_CASE("foreign: transpose through LDS", "[emulator][foreign]") {
  for (const EmulatorOptions& options : modes()) {
    Bench bench("transpose", options);
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
    Bench bench("histogram", options);
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
    Bench bench("gemm", options);
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
    Bench bench("scan", options);
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
    Bench bench("spin_lock", options);
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
    Bench bench("hash", options);
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
    Bench bench("half", options);
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
    Bench bench("softmax", options);
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
    Bench bench("sort", options);
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
    Bench bench("calls", options);
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
    Bench bench("flat", options);
    const DeviceArray<uint32_t> out(bench.device, 256);
    bench.run(1, Arguments().add(out.address()));
    const auto result = out.read();
    for (uint32_t i = 0; i < 256; ++i) REQUIRE(result[i] == (i + 5) * 100 + (i & 3) + 8);
  }
}

}  // namespace
}  // namespace baton::tests
