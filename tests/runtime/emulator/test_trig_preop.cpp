// v_trig_preop_f64: segments of 2 / pi, against the table of 24-bit words that public libm code
// uses.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

constexpr uint32_t kTwoOverPi24[] = {
    0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163,
    0xabdebb, 0xc561b7, 0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129,
    0xa73ee8, 0x8235f5, 0x2ebb44, 0x84e99c, 0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c,
    0x845f8b, 0xbdf928, 0x3b1ff8, 0x97ffde, 0x05980f, 0xef2f11, 0x8b5a0a, 0x6d1f6d, 0x367ecf,
    0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d, 0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7, 0x8a5292};
constexpr int kBits = 24 * static_cast<int>(std::size(kTwoOverPi24));

int bit(int i) { return kTwoOverPi24[i / 24] >> (23 - i % 24) & 1; }

/// Bits from `shift` on, 53 of them, each at its place.
double segment(int shift, int moved) {
  double sum = 0;
  for (int i = shift; i < shift + 53; ++i) sum += std::ldexp(bit(i), moved - i - 1);
  return sum;
}

TEST_CASE("v_trig_preop_f64 gives segments of 2 / pi", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  WaveRun run(chip, "v_trig_preop_f64 v[2:3], v[0:1], v4");
  constexpr double kNumbers[] = {1.0,     -3e10,   0x1.8p54, 0x1.8p55,
                                 0x1p300, 0x1p944, 0x1p945,  0x1p960};
  int lane = 0;
  for (const double x : kNumbers) {
    for (uint32_t which = 0; which < 8; ++which, ++lane) {
      uint64_t bits;
      std::memcpy(&bits, &x, 8);
      run.vgpr(0)[lane] = static_cast<uint32_t>(bits);
      run.vgpr(1)[lane] = static_cast<uint32_t>(bits >> 32);
      run.vgpr(4)[lane] = which + 32;  // five bits count
    }
  }
  run.run();
  int compared = 0;
  for (lane = 0; lane < 64; ++lane) {
    const int exponent = std::ilogb(kNumbers[lane / 8]) + 1023;
    const int shift = lane % 8 * 53 + std::max(0, exponent - 1077);
    const int moved = exponent >= 1968 ? 128 : 0;
    // Behind the table's end, or among the subnormals.
    if (shift + 53 > kBits || shift + 53 - moved > 1022) continue;
    const uint64_t bits = run.vgpr(2)[lane] | static_cast<uint64_t>(run.vgpr(3)[lane]) << 32;
    double got;
    std::memcpy(&got, &bits, 8);
    INFO(kNumbers[lane / 8] << ", segment " << lane % 8);
    CHECK(got == segment(shift, moved));
    ++compared;
  }
  CHECK(compared > 40);
}

}  // namespace
}  // namespace baton::tests
