// Lanes that read other lanes: readlane, bpermute, swizzle, permlane swaps.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

u32 first_active(const Wave& w) {
  const uint64_t exec = w.exec();
  return exec ? static_cast<u32>(__builtin_ctzll(exec)) : 0;
}

void readfirstlane(Wave& w, const Instruction& in) {
  const Operand& o = in.src[0];
  const bool vector = o.kind == OperandKind::vgpr || o.kind == OperandKind::agpr;
  w.set_sgpr(in.dst.index, vector ? w.row(o)[first_active(w)] : scalar32(w, o));
}
void readlane(Wave& w, const Instruction& in) {
  w.set_sgpr(in.dst.index, w.row(in.src[0])[scalar32(w, in.src[1]) & 63]);
}
void writelane(Wave& w, const Instruction& in) {
  w.row(in.dst)[scalar32(w, in.src[1]) & 63] = scalar32(w, in.src[0]);
}

/// Lane i receives from the lane that its address names; a lane that is off gives 0.
void bpermute(Wave& w, const Instruction& in) {
  const u32* at = w.row(in.src[0]);
  const u32* data = w.row(in.src[1]);
  const u32 offset = static_cast<u32>(in.offset);
  const uint64_t exec = w.exec();
  Lanes r;
  for (int i = 0; i < kLanes; ++i) {
    const u32 from = ((at[i] + offset) >> 2) & 63;
    r.v[i] = (exec >> from) & 1 ? data[from] : 0;
  }
  write_word(w, in.dst, 0, r.v);
}

/// Lane i sends to the lane that its address names; the last sender wins, who gets nothing gets 0.
void permute(Wave& w, const Instruction& in) {
  const u32* at = w.row(in.src[0]);
  const u32* data = w.row(in.src[1]);
  const u32 offset = static_cast<u32>(in.offset);
  const uint64_t exec = w.exec();
  Lanes r = {};
  for (int i = 0; i < kLanes; ++i) {
    if ((exec >> i) & 1) r.v[((at[i] + offset) >> 2) & 63] = data[i];
  }
  write_word(w, in.dst, 0, r.v);
}

/// The pattern is the offset field: rotate (FFT and rotate modes of gfx9), quad permute, or and /
/// or / xor masks within 32 lanes.
u32 swizzle_source(u32 pattern, u32 lane) {
  const u32 group = lane & 32, in_group = lane & 31;
  if (pattern >= 0xe000) {
    // FFT: the bits of the lane number, reversed, under the mask.
    const u32 mask = pattern & 0x1f;
    u32 reversed = 0;
    for (u32 b = 0; b < 5; ++b) reversed |= ((in_group >> b) & 1) << (4 - b);
    return group | (reversed & ~mask & 0x1f) | (in_group & mask);
  }
  if (pattern >= 0xc000) {
    const u32 n = (pattern >> 5) & 0x1f, mask = pattern & 0x1f;
    const u32 rotated = (pattern >> 10) & 1 ? in_group - n : in_group + n;
    return group | (in_group & mask) | (rotated & ~mask & 0x1f);
  }
  if (pattern & 0x8000) return (lane & ~3u) | ((pattern >> (2 * (lane & 3))) & 3);
  const u32 and_mask = pattern & 0x1f, or_mask = (pattern >> 5) & 0x1f;
  const u32 xor_mask = (pattern >> 10) & 0x1f;
  return group | (((in_group & and_mask) | or_mask) ^ xor_mask);
}
void swizzle(Wave& w, const Instruction& in) {
  const u32* data = w.row(in.src[0]);
  const uint64_t exec = w.exec();
  Lanes r;
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 from = swizzle_source(in.imm, i);
    r.v[i] = (exec >> from) & 1 ? data[from] : 0;
  }
  write_word(w, in.dst, 0, r.v);
}

/// Odd rows (of `row` lanes) of the destination change places with even rows of the source.
template <int row>
void permlane_swap(Wave& w, const Instruction& in) {
  u32* d = w.row(in.dst);
  u32* s = w.row(in.src[0]);
  const uint64_t exec = w.exec();
  Lanes old_d, old_s;
  for (int i = 0; i < kLanes; ++i) {
    old_d.v[i] = d[i];
    old_s.v[i] = s[i];
  }
  const bool bound_ctrl = in.flags & kBoundCtrl, fetch_inactive = in.flags & kFetchInactive;
  const auto partner = [&](const Lanes& of, int lane, u32 keep) {
    if (fetch_inactive || ((exec >> lane) & 1)) return of.v[lane];
    return bound_ctrl ? 0u : keep;
  };
  for (int i = 0; i < kLanes; ++i) {
    if (!((exec >> i) & 1)) continue;
    if ((i / row) & 1) {
      d[i] = partner(old_s, i - row, old_d.v[i]);
    } else {
      s[i] = partner(old_d, i + row, old_s.v[i]);
    }
  }
}

constexpr OpRow valu(const char* name, Handler h) {
  return {name, h, OpClass::valu, 1, Type::b32, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow lds(const char* name, Handler h) {
  return {name, h, OpClass::lds, 1, Type::b32, {Type::b32, Type::b32, Type::b32}};
}

constexpr OpRow kRows[] = {
    valu("v_readfirstlane_b32", readfirstlane),
    valu("v_readlane_b32", readlane),
    valu("v_writelane_b32", writelane),
    valu("v_permlane16_swap_b32", permlane_swap<16>),
    valu("v_permlane32_swap_b32", permlane_swap<32>),
    lds("ds_bpermute_b32", bpermute),
    lds("ds_permute_b32", permute),
    lds("ds_swizzle_b32", swizzle),
};

}  // namespace

OpTable cross_lane_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
