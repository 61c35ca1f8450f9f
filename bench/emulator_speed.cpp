// How fast the emulator is: the kernels of kernels/emulator_speed.c and whole kernels, on one
// thread, beside the aims of the project. Prints a table. Time is the process's CPU time, the least
// of several runs, so that a busy machine tells the same.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/emulator/emulator.h"

namespace {

using namespace baton;
using emulator::Emulator;
using emulator::MfmaRule;

constexpr const char* kChip = "gfx950";
constexpr uint32_t kSize = 1024, kTile = 64;

struct Options {
  std::string code, baton;
  int runs = 5;
};

double cpu_seconds(int who) {
  rusage usage = {};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_mib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The least CPU time of `work`.
double least_seconds(int runs, const std::function<void()>& work) {
  double least = INFINITY;
  for (int i = 0; i < runs; ++i) {
    const double start = cpu_seconds(RUSAGE_SELF);
    work();
    least = std::min(least, cpu_seconds(RUSAGE_SELF) - start);
  }
  return least;
}

/// Values of a normal distribution as E4M3 or bf16, little-endian.
Bytes random_operand(uint64_t seed, uint32_t element_bytes) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  Bytes bytes(size_t{kSize} * kSize * element_bytes);
  for (size_t i = 0; i < bytes.size(); i += element_bytes) {
    const float x = normal(random);
    if (element_bytes == 2) {
      std::memcpy(bytes.data() + i, reinterpret_cast<const char*>(&x) + 2, 2);
      continue;
    }
    // Below 2^-6 it is a subnormal: in steps of 2^-9.
    const int exponent = std::max(-6, std::ilogb(x));
    const int steps = static_cast<int>(std::fabs(std::ldexp(x, 3 - exponent)));
    const int field = steps >= 8 ? exponent + 7 : 0;
    bytes[i] = static_cast<uint8_t>((x < 0) << 7 | field << 3 | (steps & 7));
  }
  return bytes;
}

double decoded(const Bytes& operand, size_t element, uint32_t element_bytes) {
  if (element_bytes == 2) {
    float x = 0;
    std::memcpy(reinterpret_cast<char*>(&x) + 2, operand.data() + 2 * element, 2);
    return static_cast<double>(x);
  }
  const int code = operand[element], field = code >> 3 & 15, fraction = code & 7;
  const double x = field ? std::ldexp(8 + fraction, field - 10) : std::ldexp(fraction, -9);
  return code >> 7 ? -x : x;
}

struct Machine {
  explicit Machine(const Options& options, MfmaRule rule)
      : emulator({.chip = kChip, .mfma = rule}),
        device(emulator.device(0)),
        module(device.load(read_file(options.code))),
        stream(device.create_stream()) {}

  DeviceAddress upload(const Bytes& bytes) {
    const DeviceAddress to = device.allocate(bytes.size(), MemoryKind::normal);
    device.write(to, bytes);
    return to;
  }
  void run(const char* kernel, uint32_t x, uint32_t y, uint32_t lanes, const Bytes& arguments) {
    device.launch(module->function(kernel), {.grid = {x, y, 1}, .workgroup = {lanes, 1, 1}},
                  arguments, *stream);
    device.synchronize(*stream);
  }

  Emulator emulator;
  Device& device;
  std::unique_ptr<Module> module;
  std::unique_ptr<Stream> stream;
};

template <typename... T>
Bytes packed(T... values) {
  Bytes bytes;
  const auto add = [&](auto value) {
    const auto* p = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof(value));
  };
  (add(values), ...);
  return bytes;
}

/// A few elements of the product against sums in double.
void check_product(const Bytes& a, const Bytes& b, const std::vector<float>& c, uint32_t bytes) {
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t row = i * 997 % kSize, column = i * 641 % kSize;
    double sum = 0, size = 0;
    for (uint32_t k = 0; k < kSize; ++k) {
      const double p = decoded(a, size_t{row} * kSize + k, bytes) *
                       decoded(b, size_t{column} * kSize + k, bytes);
      sum += p;
      size += std::fabs(p);
    }
    const double got = static_cast<double>(c[size_t{row} * kSize + column]);
    if (std::fabs(got - sum) <= size * 1e-5) continue;
    throw Error(ErrorKind::failed_check,
                fmt::format("the product's element ({}, {}) is {}, not {}", row, column, got, sum));
  }
}

double gemm_seconds(const Options& options, MfmaRule rule, const char* kernel, uint32_t bytes) {
  Machine machine(options, rule);
  const Bytes a = random_operand(1, bytes), b = random_operand(2, bytes);
  std::vector<float> c(size_t{kSize} * kSize);
  const DeviceAddress to = machine.device.allocate(c.size() * sizeof(float), MemoryKind::normal);
  const Bytes arguments = packed(machine.upload(a), machine.upload(b), to);
  const double seconds = least_seconds(
      options.runs, [&] { machine.run(kernel, kSize / kTile, kSize / kTile, 256, arguments); });
  machine.device.read(to, {reinterpret_cast<uint8_t*>(c.data()), c.size() * sizeof(float)});
  check_product(a, b, c, bytes);
  return seconds;
}

/// Millions of one instruction a second, out of a loop of `a_turn` of them.
double rate(const Options& options, MfmaRule rule, const char* kernel, int turns, int a_turn) {
  Machine machine(options, rule);
  const DeviceAddress operands = machine.upload(random_operand(3, 2));
  const DeviceAddress to = machine.device.allocate(1 << 16, MemoryKind::normal);
  const Bytes arguments = packed(operands, to, turns);
  const double seconds =
      least_seconds(options.runs, [&] { machine.run(kernel, 1, 1, 64, arguments); });
  return turns * a_turn / seconds * 1e-6;
}

/// `baton run` of a key: its CPU time, of all phases.
double run_seconds(const Options& options, MfmaRule rule, const char* key) {
  const char* mfma = rule == MfmaRule::exact ? "exact" : "chain";
  const double start = cpu_seconds(RUSAGE_CHILDREN);
  const pid_t child = fork();
  if (child == 0) {
    if (!std::freopen("/dev/null", "w", stdout)) _exit(127);
    execl(options.baton.c_str(), "baton", "run", key, "--arch", kChip, "--mfma", mfma, "--json",
          nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    throw Error(ErrorKind::failed_check, options.baton + " run failed");
  }
  return cpu_seconds(RUSAGE_CHILDREN) - start;
}

void print_row(const std::string& work, const std::string& aim, const std::string& exact,
               const std::string& chain) {
  fmt::print("| {:<44} | {:>10} | {:>10} | {:>10} |\n", work, aim, exact, chain);
  std::fflush(stdout);
}

void measure(const Options& options) {
  print_row("work", "aim", "exact", "chain");
  print_row("---", "---", "---", "---");
  // First: the peak of memory is this launch's.
  const double before = peak_mib();
  const double start = cpu_seconds(RUSAGE_SELF);
  {
    Machine machine(options, MfmaRule::exact);
    const DeviceAddress x = machine.device.allocate(4096, MemoryKind::normal);
    machine.run("nothing", 256, 1, 512, packed(x));
  }
  const double seconds = cpu_seconds(RUSAGE_SELF) - start;
  print_row("start and run 256 workgroups of 512 lanes", "< 4.2 s",
            fmt::format("{:.3f} s", seconds), "");
  print_row("memory that it takes", "< 1500 MiB", fmt::format("{:.0f} MiB", peak_mib() - before),
            "");
  const auto both = [](const std::string& work, const std::string& aim, const char* format,
                       const auto& figure) {
    print_row(work, aim, fmt::format(fmt::runtime(format), figure(MfmaRule::exact)),
              fmt::format(fmt::runtime(format), figure(MfmaRule::chain)));
  };
  const auto gemm = [&](const char* kernel, uint32_t bytes) {
    return [&options, kernel, bytes](MfmaRule rule) {
      return gemm_seconds(options, rule, kernel, bytes);
    };
  };
  both("GEMM 1024^3, fp8 16x16x32", "0.25 s", "{:.3f} s", gemm("gemm_fp8", 1));
  both("GEMM 1024^3, bf16 16x16x32", "0.30 s", "{:.3f} s", gemm("gemm_bf16", 2));
  both("GEMM 1024^3, fp8 through f8f6f4 16x16x128", "1.00 s", "{:.3f} s", gemm("gemm_f8f6f4", 1));
  both("bf16 MFMA 16x16x32", "1.9 M/s", "{:.2f} M/s",
       [&](MfmaRule rule) { return rate(options, rule, "mfma_rate", 10000, 16); });
  print_row("v_fma_f32, wave instructions", "24 M/s",
            fmt::format("{:.1f} M/s", rate(options, MfmaRule::exact, "fma_rate", 100000, 32)), "");
  if (options.baton.empty()) return;
  both("attn_post, 8 tokens, nblocks 8, 8 ranks", "10 s", "{:.2f} s",
       [&](MfmaRule rule) { return run_seconds(options, rule, "attn_post:tokens=8,nblocks=8"); });
  both("kda_pre, 8 tokens, one rank", "5 s", "{:.2f} s",
       [&](MfmaRule rule) { return run_seconds(options, rule, "kda_pre:tokens=8"); });
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  CLI::App app{"How fast the emulator is, beside the project's aims."};
  app.add_option("--code", options.code, "kernels/emulator_speed.c, compiled for gfx950")
      ->required();
  app.add_option("--baton", options.baton, "the program that runs whole kernels; none: left out");
  app.add_option("--runs", options.runs, "of each; the least counts")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, count, arguments);
  try {
    measure(options);
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
