// Transcendental fp32 and reciprocals: evaluated in double and rounded once. Hardware is within an
// ulp of that; a run's report names these instructions.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/float32.h"
#include "runtime/emulator/isa/half.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/math.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

template <float (*Op)(float)>
void math1(Wave& w, const Instruction& in) {
  Lanes s0, r;
  const u32* a = fetch(w, in, 0, s0);
  const uint64_t exec = w.exec();
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = a[i];
    if ((exec >> i) & 1) r.v[i] = is_nan(x) ? x | kQuiet : as_u32(Op(as_f32(x)));
  }
  write(w, in, r.v);
}

void rcp(Wave& w, const Instruction& in) {
  Lanes s0, r;
  const u32* a = fetch(w, in, 0, s0);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = a[i];
    r.v[i] = is_nan(x) ? x | kQuiet : as_u32(1.0f / as_f32(x));
  }
  write(w, in, r.v);
}

void rsq(Wave& w, const Instruction& in) {
  Lanes s0, r;
  const u32* a = fetch(w, in, 0, s0);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = a[i];
    const float y = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(as_f32(x))));
    const bool negative = (x >> 31) && (x << 1) != 0;
    r.v[i] = is_nan(x) ? x | kQuiet : negative ? 0xffc00000 : as_u32(y);
  }
  write(w, in, r.v);
}

void square_root(Wave& w, const Instruction& in) {
  Lanes s0, r;
  const u32* a = fetch(w, in, 0, s0);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = a[i];
    const float y = __builtin_sqrtf(as_f32(x));
    const bool negative = (x >> 31) && (x << 1) != 0;
    r.v[i] = is_nan(x) ? x | kQuiet : negative ? 0xffc00000 : as_u32(y);
  }
  write(w, in, r.v);
}

// -- fp16 -----------------------------------------------------------------------------------------

template <double (*Op)(double)>
void math_half(Wave& w, const Instruction& in) {
  Lanes s0, r;
  const u32* a = fetch(w, in, 0, s0);
  const uint64_t exec = w.exec();
  for (int i = 0; i < kLanes; ++i) {
    if (!((exec >> i) & 1)) continue;
    const u32 h = a[i] & 0xffff;
    const float x = f16_to_f32(static_cast<uint16_t>(h));
    r.v[i] = x != x ? h | 0x200 : round_to_half(Op(static_cast<double>(x)));
  }
  write(w, in, r.v);
}

// -- fp64 -----------------------------------------------------------------------------------------

template <double (*Op)(double)>
void math64(Wave& w, const Instruction& in) {
  Lanes s0[2];
  const Pair a = fetch64(w, in, 0, s0);
  write64(w, in, [&](int i) {
    const double x = as_f64(join(a.lo[i], a.hi[i]));
    return x != x ? as_u64(x) | uint64_t{1} << 51 : as_u64(Op(x));
  });
}

constexpr OpRow row(const char* name, Handler h, Type type) {
  return {name, h, OpClass::valu, 1, type, {type, type, type}};
}
constexpr Type kF = Type::f32, kH = Type::f16, kD = Type::f64;

constexpr OpRow kRows[] = {
    row("v_exp_f32", math1<exp2_f32>, kF),
    row("v_exp_legacy_f32", math1<exp2_f32>, kF),
    row("v_log_f32", math1<log2_f32>, kF),
    row("v_log_legacy_f32", math1<log2_f32>, kF),
    row("v_sin_f32", math1<sin_turns_f32>, kF),
    row("v_cos_f32", math1<cos_turns_f32>, kF),
    row("v_rcp_f32", rcp, kF),
    row("v_rcp_iflag_f32", rcp, kF),
    row("v_rsq_f32", rsq, kF),
    row("v_sqrt_f32", square_root, kF),
    row("v_exp_f16", math_half<exp2_f64>, kH),
    row("v_log_f16", math_half<log2_f64>, kH),
    row("v_sin_f16", math_half<sin_turns_f64>, kH),
    row("v_cos_f16", math_half<cos_turns_f64>, kH),
    row("v_rcp_f16", math_half<reciprocal_f64>, kH),
    row("v_rsq_f16", math_half<reciprocal_root_f64>, kH),
    row("v_sqrt_f16", math_half<root_f64>, kH),
    row("v_rcp_f64", math64<reciprocal_f64>, kD),
    row("v_rsq_f64", math64<reciprocal_root_f64>, kD),
    row("v_sqrt_f64", math64<root_f64>, kD),
};

}  // namespace

OpTable vop_math_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
