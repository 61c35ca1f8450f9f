// The same C function, compiled by clang for this host and for each chip, gives the same bits on
// random and on hostile inputs. The host's compiler is the reference.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <random>

#include "tests/runtime/emulator/support.h"

namespace baton::tests {
namespace {

using emulator::Emulator;

// Each function takes 64-bit words and gives one; CASES wraps them for both sides.
constexpr const char* kFunctions = R"(
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
#define AS(T, x)                            \
  (__extension__({                          \
    __typeof__(x) x_ = (x);                 \
    T t_;                                   \
    __builtin_memcpy(&t_, &x_, sizeof(t_)); \
    t_;                                     \
  }))
static float f(u64 x) { return AS(float, (u32)x); }
static double d(u64 x) { return AS(double, x); }
static u64 rf(float x) { return x != x ? 0x7fc00000u : AS(u32, x); }
static u64 rd(double x) { return x != x ? 0x7ff8000000000000ul : AS(u64, x); }
typedef _Float16 h16;
static h16 h(u64 x) { return AS(h16, (u16)x); }
static u64 rh(h16 x) { return x != x ? 0x7e00u : AS(u16, x); }
#define FN(name) static u64 name(u64 a, u64 b, u64 c)
FN(i32_add) { return (u32)a + (u32)b; }
FN(i32_sub) { return (u32)a - (u32)b; }
FN(i32_mul) { return (u32)a * (u32)b + (u32)c; }
FN(u32_div) { return (u32)b ? (u32)a / (u32)b : 0; }
FN(u32_rem) { return (u32)b ? (u32)a % (u32)b : 0; }
FN(i32_div) { return (i32)b != 0 && (i32)b != -1 ? (u64)((i32)a / (i32)b) : 0; }
FN(i32_rem) { return (i32)b != 0 && (i32)b != -1 ? (u64)((i32)a % (i32)b) : 0; }
FN(u32_shift) { return ((u32)a << (b & 31)) ^ ((u32)a >> (c & 31)) ^ (u32)((i32)b >> (c & 31)); }
FN(u32_rotate) { return __builtin_rotateleft32((u32)a, (u32)b); }
FN(u32_minmax) {
  u32 x = a, y = b, z = c;
  u32 m = x < y ? x : y;
  return m > z ? m : z;
}
FN(i32_minmax) {
  i32 x = a, y = b, z = c;
  i32 m = x < y ? x : y;
  return (u32)(m > z ? m : z);
}
FN(i32_clamp) {
  i32 x = a;
  x = x < -1000 ? -1000 : x;
  return (u32)(x > 70000 ? 70000 : x);
}
FN(u32_bits) {
  return __builtin_popcount((u32)a) + 64 * __builtin_clz((u32)b | 1) +
         4096 * __builtin_ctz((u32)c | 0x80000000u);
}
FN(u32_reverse) { return __builtin_bitreverse32((u32)a) ^ __builtin_bswap32((u32)b); }
FN(u32_logic) { return ((u32)a & (u32)b) | (~(u32)a & (u32)c); }
FN(u32_logic3) { return ((u32)a ^ (u32)b ^ (u32)c) & ((u32)a | ~(u32)c); }
FN(u32_bfe) { return ((u32)a >> 7 & 0x1ff) + ((i32)((u32)b << 9) >> 23); }
FN(u32_mulhi) { return (u32)(((u64)(u32)a * (u32)b) >> 32) ^ (u32)(((i64)(i32)b * (i32)c) >> 32); }
FN(u32_mad24) { return ((u32)a & 0xffffff) * ((u32)b & 0xffffff) + (u32)c; }
FN(u32_saturate) {
  u32 r;
  return __builtin_add_overflow((u32)a, (u32)b, &r) ? ~0u : r;
}
FN(i32_saturate) {
  i32 r;
  return (u32)(__builtin_sub_overflow((i32)a, (i32)b, &r) ? 0x7fffffff : r);
}
FN(u32_select) {
  return (a & 1 ? (u32)b : (u32)c) + ((u32)b < (u32)c) + 2 * ((i32)b < (i32)c) + 4 * (b == c);
}
FN(u32_absdiff) {
  u32 x = a, y = b;
  return x > y ? x - y : y - x;
}
FN(u64_add) { return a + b; }
FN(u64_sub) { return a - b - 1; }
FN(u64_mul) { return a * b + c; }
FN(u64_mulhi) { return (u64)(((unsigned __int128)a * b) >> 64); }
FN(u64_div) { return b ? a / b : 0; }
FN(u64_rem) { return b ? a % b : 0; }
FN(i64_div) { return b && b != -1ul ? (u64)((i64)a / (i64)b) : 0; }
FN(u64_shift) { return (a << (b & 63)) ^ (a >> (c & 63)) ^ (u64)((i64)b >> (c & 63)); }
FN(u64_compare) {
  return (a < b) + 2 * ((i64)a < (i64)b) + 4 * (a == b) + 8 * (a <= c) + 16 * ((i64)a >= (i64)c);
}
FN(u64_bits) {
  return __builtin_popcountl(a) + 128 * __builtin_clzl(b | 1) +
         65536 * __builtin_ctzl(c | 1ul << 63);
}
FN(u64_hash) {
  u64 x = a;
  for (int i = 0; i < 4; i++) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdul;
    x ^= b;
  }
  return x;
}
FN(u16_ops) {
  return (u16)((u16)a + (u16)b) ^ (u32)(u16)((u16)a * (u16)c) << 8 ^ (u16)a >> (b & 15);
}
FN(i16_ops) {
  i16 x = a, y = b;
  i16 m = x < y ? x : y;
  return (u32)(i32)(i16)(m - (i16)c);
}
FN(u8_ops) { return (u8)(a + b) ^ (u32)(u8)(a >> 8) << 3 ^ (u32)(i32)(i8)c; }
typedef u16 u16x2 __attribute__((vector_size(4)));
typedef i16 i16x2 __attribute__((vector_size(4)));
FN(pk_u16) {
  u16x2 x = AS(u16x2, (u32)a), y = AS(u16x2, (u32)b), z = AS(u16x2, (u32)c);
  u16x2 r = x * y + z;
  r = r - (x << 3);
  return AS(u32, r);
}
FN(pk_i16) {
  i16x2 x = AS(i16x2, (u32)a), y = AS(i16x2, (u32)b);
  i16x2 r = __builtin_elementwise_max(x, y) - __builtin_elementwise_min(x, (i16x2)(y >> 2));
  return AS(u32, r);
}
FN(f32_add) { return rf(f(a) + f(b)); }
FN(f32_sub) { return rf(f(a) - f(b)); }
FN(f32_mul) { return rf(f(a) * f(b)); }
FN(f32_div) { return rf(f(a) / f(b)); }
FN(f32_fma) { return rf(__builtin_fmaf(f(a), f(b), f(c))); }
FN(f32_fneg) { return rf(__builtin_fmaf(-f(a), __builtin_fabsf(f(b)), -f(c))); }
FN(f32_sqrt) { return rf(__builtin_sqrtf(f(a))); }
FN(f32_round) {
  return rf(__builtin_floorf(f(a)) + 3.0f * __builtin_truncf(f(b))) ^ rf(__builtin_ceilf(f(c)));
}
FN(f32_rint) { return rf(__builtin_roundevenf(f(a))); }
FN(f32_roundaway) { return rf(__builtin_roundf(f(a))); }
FN(f32_compare) {
  return (f(a) < f(b)) + 2 * (f(a) == f(b)) + 4 * (f(a) >= f(c)) + 8 * (f(a) != f(c)) +
         16 * __builtin_isunordered(f(b), f(c)) + 32 * __builtin_islessgreater(f(a), f(b)) +
         64 * !(f(a) > f(b)) + 128 * !(f(b) <= f(c));
}
FN(f32_select) { return rf(f(a) < f(b) ? f(b) : f(c)); }
FN(f32_class) {
  return __builtin_isnan(f(a)) + 2 * __builtin_isinf(f(b)) + 4 * __builtin_isfinite(f(c)) +
         8 * __builtin_isnormal(f(a)) + 16 * (__builtin_signbitf(f(b)) != 0);
}
FN(f32_ldexp) { return rf(__builtin_ldexpf(f(a), (i32)(b % 400) - 200)); }
FN(f32_frexp) {
  int e = 0;
  float m = __builtin_isfinite(f(a)) ? __builtin_frexpf(f(a), &e) : 0;
  return rf(m) + ((u64)(u32)e << 32);
}
FN(f32_copysign) { return rf(__builtin_copysignf(f(a), f(b))); }
FN(f32_from_int) { return rf((float)(i32)a) ^ rf((float)(u32)b) << 1 ^ rf((float)(u8)c) << 2; }
FN(f32_from_i64) { return rf((float)(i64)a) ^ rf((float)(u64)b) << 1; }
FN(f32_to_int) {
  float x = f(a), y = f(b);
  x = x > -2e9f && x < 2e9f ? x : 1;
  y = y >= 0 && y < 4e9f ? y : 2;
  return (u32)(i32)x ^ (u64)(u32)y << 32;
}
FN(f32_to_i64) {
  float x = f(a);
  x = x > -9e18f && x < 9e18f ? x : 1;
  return (u64)(i64)x;
}
FN(f64_add) { return rd(d(a) + d(b)); }
FN(f64_mul) { return rd(d(a) * d(b)); }
FN(f64_div) { return rd(d(a) / d(b)); }
FN(f64_fma) { return rd(__builtin_fma(d(a), d(b), d(c))); }
FN(f64_sqrt) { return rd(__builtin_sqrt(d(a))); }
FN(f64_round) {
  return rd(__builtin_floor(d(a))) ^ rd(__builtin_trunc(d(b))) ^ rd(__builtin_ceil(d(c)));
}
FN(f64_rint) { return rd(__builtin_roundeven(d(a))); }
FN(f64_compare) {
  return (d(a) < d(b)) + 2 * (d(a) == d(b)) + 4 * (d(a) >= d(c)) + 8 * (d(a) != d(c)) +
         16 * __builtin_isunordered(d(b), d(c));
}
FN(f64_ldexp) { return rd(__builtin_ldexp(d(a), (i32)(b % 3000) - 1500)); }
FN(f64_frexp) {
  int e = 0;
  double m = __builtin_isfinite(d(a)) ? __builtin_frexp(d(a), &e) : 0;
  return rd(m) ^ (u64)(u32)e;
}
FN(f64_convert) {
  return rf((float)d(a)) ^ rd((double)f(b)) ^ rd((double)(i32)c) ^ rd((double)(u32)c);
}
FN(f64_from_i64) { return rd((double)(i64)a) ^ rd((double)(u64)b); }
FN(f64_to_int) {
  double x = d(a);
  x = x > -2e9 && x < 2e9 ? x : 1;
  return (u32)(i32)x;
}
FN(f64_to_i64) {
  double x = d(a);
  x = x > -9e18 && x < 9e18 ? x : 1;
  return (u64)(i64)x;
}
FN(f16_add) { return rh(h(a) + h(b)); }
FN(f16_mul) { return rh(h(a) * h(b)); }
FN(f16_sub) { return rh(h(a) - h(b)); }
FN(f16_div) { return rh(h(a) / h(b)); }
FN(f16_fma) { return rh(__builtin_fmaf16(h(a), h(b), h(c))); }
FN(f16_compare) {
  return (h(a) < h(b)) + 2 * (h(a) == h(b)) + 4 * (h(a) >= h(c)) + 8 * (h(a) != h(c));
}
FN(f16_convert) { return rh((h16)f(a)) ^ rf((float)h(b)) << 8; }
FN(f16_from_int) { return rh((h16)(i16)a) ^ rh((h16)(u16)b) << 16; }
FN(f16_to_int) {
  h16 x = h(a);
  x = x > (h16)-30000 && x < (h16)30000 ? x : (h16)1;
  return (u16)(i16)x;
}
typedef h16 h16x2 __attribute__((vector_size(4)));
FN(pk_f16) {
  h16x2 x = AS(h16x2, (u32)a), y = AS(h16x2, (u32)b), z = AS(h16x2, (u32)c);
  h16x2 r = x * y;
  r = r + z;
  return rh(r[0]) | rh(r[1]) << 16;
}
FN(mix_f16) { return rf(__builtin_fmaf((float)h(a), (float)h(a >> 16), f(c))); }
#ifdef __AMDGCN__
FN(bf16_round) {
  float x = f(a);
  __bf16 y = (__bf16)x;
  return x != x ? 0 : AS(u16, y);
}
#else
FN(bf16_round) {
  u32 x = a;
  return f(a) != f(a) ? 0 : (u16)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}
#endif
FN(bf16_pair) {
  u32 p = a;
  float lo = AS(float, p << 16), hi = AS(float, p & 0xffff0000u);
  return rf(lo * hi + f(b));
}
FN(loop_collatz) {
  u32 n = (u32)a & 0xffff, s = 0;
  while (n > 1 && s < 200) {
    n = n & 1 ? 3 * n + 1 : n >> 1;
    s++;
  }
  return s + ((u64)n << 32);
}
FN(loop_gcd) {
  u32 x = (u32)a & 0xfffff, y = (u32)b & 0xfffff;
  while (y) {
    u32 t = x % y;
    x = y;
    y = t;
  }
  return x;
}
FN(array_local) {
  u32 t[16];
  for (int i = 0; i < 16; i++) t[i] = (u32)a * (i + 1);
  for (int i = 0; i < 40; i++) t[(b >> i) & 15] ^= t[(c >> i) & 15] + i;
  u32 r = 0;
  for (int i = 0; i < 16; i++) r = r * 31 + t[i];
  return r;
}
FN(switch_case) {
  switch (a & 7) {
    case 0:
      return b + c;
    case 1:
      return b ^ c;
    case 2:
      return b * 3;
    case 3:
      return c >> 5;
    case 4:
      return b - c;
    case 5:
      return b | c;
    case 6:
      return ~b;
    default:
      return b & c;
  }
}
)";

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  const std::string text = kFunctions;
  for (size_t at = text.find("\nFN("); at != std::string::npos; at = text.find("\nFN(", at + 1)) {
    const std::string name = text.substr(at + 4, text.find(')', at) - at - 4);
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

constexpr size_t kSamples = 4096;

/// Random words, with the edges of every format among them.
std::vector<uint64_t> samples(uint64_t seed) {
  constexpr uint64_t kEdges[] = {
      0, 1, 2, 7, 8, 31, 32, 63, 64, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff,
      0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, ~uint64_t{0},
      // fp32, with the same bits in the high half
      0x3f8000003f800000, 0xbf800000bf800000, 0x7f8000007f800000, 0xff800000ff800000,
      0x7fc000007fc00000, 0x0000000100000001, 0x007fffff007fffff, 0x0080000000800000,
      0x7f7fffff7f7fffff, 0x4b0000004b000000, 0x4effffff4f000000, 0x5f0000005f000000,
      // fp64
      0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
      0x7ff8000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000,
      0x7fefffffffffffff, 0x4330000000000000, 0x41dfffffffc00000, 0x3810000000000000,
      // fp16
      0x3c003c00, 0xbc00bc00, 0x7c007c00, 0xfc00fc00, 0x7e007e00, 0x00010001, 0x03ff03ff,
      0x04000400, 0x7bff7bff};
  std::mt19937_64 random(seed);
  std::vector<uint64_t> words(kSamples);
  for (uint64_t& word : words) {
    switch (random() % 6) {
      case 0:
        word = kEdges[random() % std::size(kEdges)];
        break;
      case 1: {  // numbers of ordinary size in both formats
        const float x = static_cast<float>(static_cast<int64_t>(random() % 2000001) - 1000000) /
                        static_cast<float>(1 + random() % 1000);
        const double y = static_cast<double>(x) * 1.0000001;
        uint32_t low;
        std::memcpy(&low, &x, 4);
        std::memcpy(&word, &y, 8);
        if (random() & 1) word = low;
        break;
      }
      case 2:
        word = random() % 1000;
        break;
      case 3:
        word = kEdges[random() % std::size(kEdges)] + random() % 5 - 2;
        break;
      default:
        word = random();
    }
  }
  return words;
}

std::string host_library(const std::string& source) {
  const std::string folder = std::filesystem::temp_directory_path() / "baton-emulator-host-XXXXXX";
  std::string path = folder;
  if (!mkdtemp(path.data())) throw Error(ErrorKind::environment, "no temporary folder");
  std::ofstream(path + "/host.c") << source;
  // IEEE arithmetic, nothing contracted, no bf16 unit (it flushes subnormals); fp16 rounds after
  // each operation, as the chips do.
  const std::string command = BATON_CLANG
                              " -O1 -march=native -mno-avx512bf16 -ffp-contract=off -fno-fast-math "
                              "-Xclang -ffloat16-excess-precision=none -shared -fPIC -w " +
                              path + "/host.c -o " + path + "/host.so -lm";
  if (std::system(command.c_str()) != 0) throw Error(ErrorKind::failed_check, "host.c");
  return path + "/host.so";
}

std::vector<std::vector<uint64_t>> host_results(const std::vector<std::string>& names,
                                                const std::vector<uint64_t> (&inputs)[3]) {
  std::string source = kFunctions;
  source += "void run(int which, const u64* a, const u64* b, const u64* c, u64* r, u64 n) {\n";
  source += "for (u64 i = 0; i < n; i++) switch (which) {\n";
  for (size_t i = 0; i < names.size(); ++i) {
    source += "case " + std::to_string(i) + ": r[i] = " + names[i] + "(a[i], b[i], c[i]); break;\n";
  }
  source += "}}\n";
  const std::string path = host_library(source);
  void* library = dlopen(path.c_str(), RTLD_NOW);
  REQUIRE(library);
  using Run = void (*)(int, const uint64_t*, const uint64_t*, const uint64_t*, uint64_t*, uint64_t);
  const auto run = reinterpret_cast<Run>(dlsym(library, "run"));
  std::vector<std::vector<uint64_t>> results(names.size(), std::vector<uint64_t>(kSamples));
  for (size_t i = 0; i < names.size(); ++i) {
    run(static_cast<int>(i), inputs[0].data(), inputs[1].data(), inputs[2].data(),
        results[i].data(), kSamples);
  }
  dlclose(library);
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
  return results;
}

struct Variant {
  std::string chip, options;
  emulator::HostLevel level;
};

std::vector<Variant> variants() {
  using emulator::HostLevel;
  std::vector<Variant> all;
  for (const char* chip : {"gfx950", "gfx942", "gfx90a"}) {
    for (const char* options : {"-O2", "-O0"}) {
      all.push_back({chip, options, emulator::best_host_level()});
    }
  }
  for (const HostLevel level : {HostLevel::baseline, HostLevel::avx2}) {
    if (emulator::runs_here(level)) all.push_back({"gfx950", "-O2", level});
  }
  return all;
}

TEST_CASE("C functions give the host's bits on each chip", "[emulator][clang]") {
  const Variant variant = GENERATE(from_range(variants()));
  const std::string &chip = variant.chip, &options = variant.options;
  const uint64_t seed = 20240611;
  CAPTURE(chip, options, seed, name(variant.level));
  const std::vector<uint64_t> inputs[3] = {samples(seed), samples(seed + 1), samples(seed + 2)};
  const std::vector<std::string> names = function_names();
  REQUIRE(names.size() > 80);
  static const auto expected = host_results(names, inputs);

  std::string source = kFunctions;
  for (const std::string& name : names) {
    source +=
        "__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256))) void k_" + name +
        "(const __attribute__((address_space(1))) u64* a, const __attribute__((address_space(1)))"
        " u64* b, const __attribute__((address_space(1))) u64* c, "
        "__attribute__((address_space(1))) u64* r) { u32 i = __builtin_amdgcn_workgroup_id_x() "
        "* 256 + __builtin_amdgcn_workitem_id_x(); r[i] = " +
        name + "(a[i], b[i], c[i]); }\n";
  }
  Emulator emulator({.chip = chip, .host_level = variant.level});
  Device& device = emulator.device(0);
  const auto module = device.load(
      compile_text(source, "c", chip, options + " -ffp-contract=off -fno-fast-math -w"));
  const auto stream = device.create_stream();
  const DeviceArray<uint64_t> a(device, inputs[0]), b(device, inputs[1]), c(device, inputs[2]);
  for (size_t k = 0; k < names.size(); ++k) {
    const DeviceArray<uint64_t> r(device, kSamples);
    device.launch(module->function("k_" + names[k]),
                  {.grid = {kSamples / 256, 1, 1}, .workgroup = {256, 1, 1}},
                  Arguments().add(a.address()).add(b.address()).add(c.address()).add(r.address()),
                  *stream);
    device.synchronize(*stream);
    const std::vector<uint64_t> actual = r.read();
    size_t wrong = 0;
    for (size_t i = 0; i < kSamples; ++i) {
      if (actual[i] == expected[k][i]) continue;
      if (++wrong > 3) continue;
      UNSCOPED_INFO(names[k] << "(" << std::hex << inputs[0][i] << ", " << inputs[1][i] << ", "
                             << inputs[2][i] << ") = " << actual[i] << ", the host says "
                             << expected[k][i]);
    }
    INFO(names[k] << ": " << wrong << " of " << kSamples << " differ");
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace baton::tests
