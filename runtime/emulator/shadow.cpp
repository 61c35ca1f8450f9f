#include "runtime/emulator/shadow.h"

#include <algorithm>

namespace baton::emulator {
namespace {

constexpr uint32_t kUndefined = ~uint32_t{0};

}  // namespace

WaveShadow::WaveShadow(uint32_t vgprs, uint32_t agprs)
    : vgprs_(vgprs),
      rows_(vgprs + agprs + 1),
      bits_(size_t{rows_ + kSpareRows} * kLanes, kUndefined),
      lanes_(rows_ + kSpareRows, ~uint64_t{0}),
      origins_(rows_ + kSpareRows, 0) {
  // Scalars that the launch or the chip sets; the launch defines those that the kernel asks for.
  sgpr.fill(0);
  std::fill_n(sgpr.begin(), static_cast<int>(kFlatScratch), kUndefined);
  sgpr[kVcc] = sgpr[kVcc + 1] = sgpr[kM0] = kUndefined;
}

void WaveShadow::refresh(uint32_t row) {
  const uint32_t* b = bits(row);
  uint64_t mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= uint64_t{b[i] != 0} << i;
  lanes_[row] = mask;
}

void WaveShadow::define(uint32_t row, uint64_t lanes) {
  uint64_t left = lanes_[row] & lanes;
  lanes_[row] &= ~lanes;
  for (uint32_t* b = bits(row); left != 0; left &= left - 1) b[__builtin_ctzll(left)] = 0;
}

GroupShadow::GroupShadow(uint32_t lds_bytes)
    : lds(lds_bytes, 0xff), lds_origin((lds_bytes + 3) / 4, 0) {}

}  // namespace baton::emulator
