// Conversions of fp8, bf8, fp6 and fp4: every code up, every code back, and the nearest code of
// random numbers, found by searching all codes.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

struct Small {
  std::string chip, name;
  int bits, exponent_bits, fraction_bits, bias;
  bool fnuz;
};
const Small kEights[] = {{"gfx950", "fp8", 8, 4, 3, 7, false},
                         {"gfx950", "bf8", 8, 5, 2, 15, false},
                         {"gfx942", "fp8", 8, 4, 3, 8, true},
                         {"gfx942", "bf8", 8, 5, 2, 16, true}};

float value(const Small& f, uint32_t code) {
  const uint32_t field = (code >> f.fraction_bits) & ((1u << f.exponent_bits) - 1);
  const uint32_t fraction = code & ((1u << f.fraction_bits) - 1);
  const float sign = code >> (f.bits - 1) & 1 ? -1.0f : 1.0f;
  if (f.fnuz) {
    if (code == 0x80) return NAN;
  } else if (f.bits == 8 && f.exponent_bits == 5 && field == 31) {
    return fraction ? NAN : sign * INFINITY;
  } else if (f.bits == 8 && f.exponent_bits == 4 && field == 15 && fraction == 7) {
    return NAN;
  }
  const int exponent = static_cast<int>(field ? field : 1) - f.bias - f.fraction_bits;
  const int units = static_cast<int>(fraction + (field ? 1u << f.fraction_bits : 0));
  return sign * std::ldexp(static_cast<float>(units), exponent);
}

float as_float(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
uint32_t as_bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || as_bits(a) == as_bits(b); }

TEST_CASE("every 8-bit code becomes its fp32 number", "[emulator][small]") {
  for (const Small& f : kEights) {
    WaveRun run(f.chip, "v_cvt_f32_" + f.name + "_e32 v1, v0\n v_cvt_pk_f32_" + f.name +
                            "_e32 v[2:3], v0\n v_cvt_f32_" + f.name +
                            "_sdwa v4, v0 src0_sel:BYTE_3\n");
    for (uint32_t first = 0; first < 256; first += 64) {
      for (uint32_t i = 0; i < 64; ++i) {
        run.vgpr(0)[i] = (first + i) | (255 - first - i) << 8 | (first + i) << 24;
      }
      run.wave().pc = 0;
      run.run();
      for (uint32_t i = 0; i < 64; ++i) {
        INFO(f.name << " on " << f.chip << ", code " << first + i);
        CHECK(same(as_float(run.vgpr(1)[i]), value(f, first + i)));
        CHECK(same(as_float(run.vgpr(2)[i]), value(f, first + i)));
        CHECK(same(as_float(run.vgpr(3)[i]), value(f, 255 - first - i)));
        CHECK(same(as_float(run.vgpr(4)[i]), value(f, first + i)));
      }
    }
  }
}

/// The code nearest to x, the even one of two; ties and range by exhaustive search.
uint32_t nearest(const Small& f, float x) {
  uint32_t best = 0;
  double best_distance = INFINITY;
  for (uint32_t code = 0; code < 1u << (f.bits - 1); ++code) {
    const float v = value(f, code);
    if (!std::isfinite(v)) continue;
    const double distance = std::fabs(std::fabs(static_cast<double>(x)) - static_cast<double>(v));
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
      best = code;
      best_distance = distance;
    }
  }
  if (f.fnuz && best == 0) return 0;
  return best | (std::signbit(x) ? 1u << (f.bits - 1) : 0);
}

TEST_CASE("fp32 is rounded to the nearest 8-bit code and packed where op_sel says",
          "[emulator][small]") {
  std::mt19937 random(11);
  for (const Small& f : kEights) {
    WaveRun run(f.chip, "v_cvt_pk_" + f.name + "_f32 v2, v0, v1\n v_cvt_pk_" + f.name +
                            "_f32 v3, v1, v0 op_sel:[0,0,1]\n");
    for (int i = 0; i < 64; ++i) {
      const auto number = [&] {
        const float m = 1.0f + static_cast<float>(random() % 4096) / 4096;
        return std::ldexp(random() % 2 ? m : -m, static_cast<int>(random() % 18) - 11);
      };
      run.vgpr(0)[i] = as_bits(number());
      run.vgpr(1)[i] = as_bits(number());
      run.vgpr(3)[i] = 0x12345678;
    }
    run.run();
    for (int i = 0; i < 64; ++i) {
      const uint32_t a = nearest(f, as_float(run.vgpr(0)[i])),
                     b = nearest(f, as_float(run.vgpr(1)[i]));
      INFO(f.name << " on " << f.chip << ": " << as_float(run.vgpr(0)[i]) << ", "
                  << as_float(run.vgpr(1)[i]));
      CHECK((run.vgpr(2)[i] & 0xffff) == (a | b << 8));
      CHECK(run.vgpr(3)[i] == ((b | a << 8) << 16 | 0x5678));
    }
  }
}

TEST_CASE("fp4 pairs are scaled by the exponent of an fp32", "[emulator][small]") {
  const Small f{"gfx950", "fp4", 4, 2, 1, 1, false};
  WaveRun run("gfx950",
              "v_cvt_scalef32_pk_f32_fp4 v[2:3], v0, v1 op_sel:[0,1]\n"
              "v_cvt_scalef32_pk_fp4_f32 v4, v2, v3, v1 op_sel:[0,0,0,1]\n");
  for (uint32_t i = 0; i < 64; ++i) {
    run.vgpr(0)[i] = 0x5a000000 | ((4 * i) & 0xff) << 16 | 0xffff;
    run.vgpr(1)[i] = as_bits(std::ldexp(1.0f, static_cast<int>(i) - 30));
    run.vgpr(4)[i] = 0x11111111;
  }
  run.run();
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t byte = (4 * i) & 0xff;
    INFO("lane " << i);
    CHECK(
        same(as_float(run.vgpr(2)[i]), std::ldexp(value(f, byte & 15), static_cast<int>(i) - 30)));
    CHECK(
        same(as_float(run.vgpr(3)[i]), std::ldexp(value(f, byte >> 4), static_cast<int>(i) - 30)));
    CHECK(run.vgpr(4)[i] == (0x11001111 | byte << 16));
  }
}

TEST_CASE("32 fp6 numbers go up and come back", "[emulator][small]") {
  const std::string name = GENERATE("fp6", "bf6");
  const Small f = name == "fp6" ? Small{"gfx950", "fp6", 6, 2, 3, 1, false}
                                : Small{"gfx950", "bf6", 6, 3, 2, 3, false};
  WaveRun run("gfx950", "v_cvt_scalef32_pk32_f32_" + name +
                            " v[32:63], v[0:5], v6\n"
                            "v_cvt_scalef32_2xpk16_" +
                            name + "_f32 v[8:13], v[32:47], v[48:63], v6\n");
  std::mt19937 random(5);
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < 6; ++k) run.vgpr(k)[i] = random();
    run.vgpr(6)[i] = as_bits(0.25f);
  }
  run.run();
  for (int i = 0; i < 64; ++i) {
    for (int e = 0; e < 32; ++e) {
      uint64_t pair = run.vgpr(6 * e / 32)[i];
      if (6 * e % 32 > 26) pair |= uint64_t{run.vgpr(6 * e / 32 + 1)[i]} << 32;
      const uint32_t code = static_cast<uint32_t>(pair >> (6 * e % 32)) & 63;
      REQUIRE(same(as_float(run.vgpr(32 + e)[i]), value(f, code) * 0.25f));
    }
    for (int k = 0; k < 6; ++k) REQUIRE(run.vgpr(8 + k)[i] == run.vgpr(k)[i]);
  }
}

}  // namespace
}  // namespace baton::tests
