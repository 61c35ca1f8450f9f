// v_cmp and v_cmpx: a bit a lane, zero for lanes that are off.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/float32.h"
#include "runtime/emulator/isa/half.h"
#include "runtime/emulator/isa/lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;

template <bool writes_exec>
BATON_INLINE void write_compare(Wave& w, const Instruction& in, const u32* bit) {
  const uint64_t mask = pack_mask(bit) & write_mask(w, in);
  w.set_sgpr64(in.dst.index, mask);
  if (writes_exec) w.set_sgpr64(kExec, mask);
}

// -- what is compared -----------------------------------------------------------------------------

struct I32 {
  static BATON_INLINE int32_t from(u32 x) { return static_cast<int32_t>(x); }
};
struct U32 {
  static BATON_INLINE u32 from(u32 x) { return x; }
};
struct I16 {
  static BATON_INLINE int16_t from(u32 x) { return static_cast<int16_t>(x); }
};
struct U16 {
  static BATON_INLINE uint16_t from(u32 x) { return static_cast<uint16_t>(x); }
};
struct F32 {
  static BATON_INLINE float from(u32 x) { return as_f32(x); }
};
struct F16 {
  static BATON_INLINE float from(u32 x) { return f16_to_f32(static_cast<uint16_t>(x)); }
};
struct I64 {
  static BATON_INLINE int64_t from(uint64_t x) { return static_cast<int64_t>(x); }
};
struct U64 {
  static BATON_INLINE uint64_t from(uint64_t x) { return x; }
};
struct F64 {
  static BATON_INLINE double from(uint64_t x) { return as_f64(x); }
};

// -- how ------------------------------------------------------------------------------------------

#define BATON_COMPARE(name, expression)    \
  struct name {                            \
    template <typename T>                  \
    static BATON_INLINE u32 of(T a, T b) { \
      return static_cast<u32>(expression); \
    }                                      \
  }
BATON_COMPARE(Eq, a == b);
BATON_COMPARE(Ne, a != b);
BATON_COMPARE(Lt, a < b);
BATON_COMPARE(Le, a <= b);
BATON_COMPARE(Gt, a > b);
BATON_COMPARE(Ge, a >= b);
BATON_COMPARE(Lg, a<b || a> b);
BATON_COMPARE(Ordered, a == a && b == b);
BATON_COMPARE(Unordered, a != a || b != b);
BATON_COMPARE(Nge, !(a >= b));
BATON_COMPARE(Nlg, !(a < b || a > b));
BATON_COMPARE(Ngt, !(a > b));
BATON_COMPARE(Nle, !(a <= b));
BATON_COMPARE(Neq, !(a == b));
BATON_COMPARE(Nlt, !(a < b));
#undef BATON_COMPARE
// Their operands are not looked at.
struct Never {
  template <typename T>
  static BATON_INLINE u32 of(T, T) {
    return 0;
  }
};
struct Always {
  template <typename T>
  static BATON_INLINE u32 of(T, T) {
    return 1;
  }
};

template <typename How, typename What, bool writes_exec>
void compare(Wave& w, const Instruction& in) {
  Lanes s0, s1, bit;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) bit.v[i] = How::of(What::from(a[i]), What::from(b[i]));
  write_compare<writes_exec>(w, in, bit.v);
}

template <typename How, typename What, bool writes_exec>
void compare64(Wave& w, const Instruction& in) {
  Lanes s0[2], s1[2], bit;
  const Pair a = fetch64(w, in, 0, s0);
  const Pair b = fetch64(w, in, 1, s1);
  for (int i = 0; i < kLanes; ++i) {
    bit.v[i] = How::of(What::from(join(a.lo[i], a.hi[i])), What::from(join(b.lo[i], b.hi[i])));
  }
  write_compare<writes_exec>(w, in, bit.v);
}

// -- classes --------------------------------------------------------------------------------------

/// The class bit of a floating-point number: signalling NaN, quiet NaN, -inf, -normal, -subnormal,
/// -0, +0, +subnormal, +normal, +inf.
template <int exponent_bits, int mantissa_bits>
BATON_INLINE u32 class_bit(uint64_t x) {
  constexpr uint64_t kMantissa = (uint64_t{1} << mantissa_bits) - 1;
  constexpr uint64_t kMaxExponent = (uint64_t{1} << exponent_bits) - 1;
  const uint64_t mantissa = x & kMantissa, exponent = (x >> mantissa_bits) & kMaxExponent;
  const bool negative = (x >> (mantissa_bits + exponent_bits)) & 1;
  if (exponent == kMaxExponent && mantissa) return (mantissa >> (mantissa_bits - 1)) ? 1 : 0;
  const u32 magnitude = exponent == kMaxExponent ? 0 : exponent ? 1 : mantissa ? 2 : 3;
  return negative ? 2 + magnitude : 9 - magnitude;
}

template <bool writes_exec, int exponent_bits, int mantissa_bits>
void classify(Wave& w, const Instruction& in) {
  Lanes s0, s1, bit;
  const u32* a = fetch(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  for (int i = 0; i < kLanes; ++i) {
    bit.v[i] = (b[i] >> class_bit<exponent_bits, mantissa_bits>(a[i])) & 1;
  }
  write_compare<writes_exec>(w, in, bit.v);
}
template <bool writes_exec>
void classify64(Wave& w, const Instruction& in) {
  Lanes s0[2], s1, bit;
  const Pair a = fetch64(w, in, 0, s0);
  const u32* b = fetch(w, in, 1, s1);
  for (int i = 0; i < kLanes; ++i) {
    bit.v[i] = (b[i] >> class_bit<11, 52>(join(a.lo[i], a.hi[i]))) & 1;
  }
  write_compare<writes_exec>(w, in, bit.v);
}

constexpr OpRow row(const char* name, Handler h, Type a, Type b) {
  return {name, h, OpClass::valu, 1, Type::b64, {a, b, b}};
}

#define BATON_ROW(function, how, What, spelled, suffix, type)               \
  row("v_cmp_" spelled "_" suffix, function<how, What, false>, type, type), \
      row("v_cmpx_" spelled "_" suffix, function<how, What, true>, type, type)

#define BATON_INTEGER_ROWS(function, What, suffix, type) \
  BATON_ROW(function, Never, What, "f", suffix, type),   \
      BATON_ROW(function, Lt, What, "lt", suffix, type), \
      BATON_ROW(function, Eq, What, "eq", suffix, type), \
      BATON_ROW(function, Le, What, "le", suffix, type), \
      BATON_ROW(function, Gt, What, "gt", suffix, type), \
      BATON_ROW(function, Ne, What, "ne", suffix, type), \
      BATON_ROW(function, Ge, What, "ge", suffix, type), \
      BATON_ROW(function, Always, What, "t", suffix, type)

#define BATON_FLOAT_ROWS(function, What, suffix, type)         \
  BATON_ROW(function, Never, What, "f", suffix, type),         \
      BATON_ROW(function, Lt, What, "lt", suffix, type),       \
      BATON_ROW(function, Eq, What, "eq", suffix, type),       \
      BATON_ROW(function, Le, What, "le", suffix, type),       \
      BATON_ROW(function, Gt, What, "gt", suffix, type),       \
      BATON_ROW(function, Lg, What, "lg", suffix, type),       \
      BATON_ROW(function, Ge, What, "ge", suffix, type),       \
      BATON_ROW(function, Ordered, What, "o", suffix, type),   \
      BATON_ROW(function, Unordered, What, "u", suffix, type), \
      BATON_ROW(function, Nge, What, "nge", suffix, type),     \
      BATON_ROW(function, Nlg, What, "nlg", suffix, type),     \
      BATON_ROW(function, Ngt, What, "ngt", suffix, type),     \
      BATON_ROW(function, Nle, What, "nle", suffix, type),     \
      BATON_ROW(function, Neq, What, "neq", suffix, type),     \
      BATON_ROW(function, Nlt, What, "nlt", suffix, type),     \
      BATON_ROW(function, Always, What, "tru", suffix, type)

constexpr OpRow kRows[] = {
    BATON_INTEGER_ROWS(compare, I32, "i32", Type::b32),
    BATON_INTEGER_ROWS(compare, U32, "u32", Type::b32),
    BATON_INTEGER_ROWS(compare, I16, "i16", Type::b16),
    BATON_INTEGER_ROWS(compare, U16, "u16", Type::b16),
    BATON_INTEGER_ROWS(compare64, I64, "i64", Type::i64),
    BATON_INTEGER_ROWS(compare64, U64, "u64", Type::b64),
    BATON_FLOAT_ROWS(compare, F32, "f32", Type::f32),
    BATON_FLOAT_ROWS(compare, F16, "f16", Type::f16),
    BATON_FLOAT_ROWS(compare64, F64, "f64", Type::f64),
    row("v_cmp_class_f32", classify<false, 8, 23>, Type::f32, Type::b32),
    row("v_cmpx_class_f32", classify<true, 8, 23>, Type::f32, Type::b32),
    row("v_cmp_class_f16", classify<false, 5, 10>, Type::f16, Type::b32),
    row("v_cmpx_class_f16", classify<true, 5, 10>, Type::f16, Type::b32),
    row("v_cmp_class_f64", classify64<false>, Type::f64, Type::b32),
    row("v_cmpx_class_f64", classify64<true>, Type::f64, Type::b32),
};

}  // namespace

OpTable vop_compare_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
