// Read-modify-write on LDS. A workgroup's waves take turns, so nothing comes between.
#include "runtime/emulator/isa/atomic_ops.h"
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/lds_lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

template <typename T>
BATON_INLINE T data_of(const u32* lo, const u32* hi, int lane) {
  if constexpr (sizeof(T) == 4)
    return lo[lane];
  else
    return join(lo[lane], hi[lane]);
}

/// Operands: address, data [, second data]; `next` makes the new value of old, data and second
/// data.
template <typename T, bool returns, int sources, typename Next>
BATON_INLINE void update(Wave& w, const Instruction& in, Next next) {
  constexpr int kWords = sizeof(T) / 4;
  const LdsAccess a = lds_lanes(w, in.src[0], static_cast<u32>(in.offset));
  check_lds(w, a, sizeof(T), true);
  const u32* d0 = w.row(in.src[1]);
  const u32* d1 = sources > 1 ? w.row(in.src[2]) : d0;
  Lanes old[2];
  bool changed = false;
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    T before;
    __builtin_memcpy(&before, w.lds + a.at[i], sizeof(T));
    const T after = next(before, data_of<T>(d0, d0 + kLanes, i), data_of<T>(d1, d1 + kLanes, i));
    __builtin_memcpy(w.lds + a.at[i], &after, sizeof(T));
    changed |= __builtin_memcmp(&before, &after, sizeof(T)) != 0;
    old[0].v[i] = static_cast<u32>(before);
    if (kWords == 2) old[1].v[i] = static_cast<u32>(static_cast<u64>(before) >> 32);
  }
  w.spin.reads_lds = true;
  if (changed) wrote_lds(w);
  if (returns) {
    for (int k = 0; k < kWords; ++k) write_word(w, in.dst, k, old[k].v);
  }
  count_lds(w, a, sizeof(T));
  end_memory(w);
}

template <typename T, T (*Op)(T, T), bool returns>
void rmw(Wave& w, const Instruction& in) {
  update<T, returns, 1>(w, in, [](T old, T data, T) { return Op(old, data); });
}
/// Compare and store: what it is compared with stands first.
template <typename T, bool returns>
void cmpst(Wave& w, const Instruction& in) {
  update<T, returns, 2>(w, in,
                        [](T old, T expected, T value) { return old == expected ? value : old; });
}
template <bool returns>
void cmpst_f32(Wave& w, const Instruction& in) {
  update<u32, returns, 2>(w, in, [](u32 old, u32 expected, u32 value) {
    return as_f32(old) == as_f32(expected) ? value : old;
  });
}
template <bool returns>
void cmpst_f64(Wave& w, const Instruction& in) {
  update<u64, returns, 2>(w, in, [](u64 old, u64 expected, u64 value) {
    return as_f64(old) == as_f64(expected) ? value : old;
  });
}
template <typename T, bool returns>
void mskor(Wave& w, const Instruction& in) {
  update<T, returns, 2>(
      w, in, [](T old, T mask, T value) { return static_cast<T>((old & ~mask) | value); });
}
void wrap(Wave& w, const Instruction& in) {
  update<u32, true, 2>(
      w, in, [](u32 old, u32 limit, u32 add) { return old >= limit ? old - limit : old + add; });
}

/// Two exchanges at two offsets.
template <typename T, int unit>
void exchange2(Wave& w, const Instruction& in) {
  constexpr int kWords = sizeof(T) / 4;
  const u32 step = sizeof(T) * unit;
  const LdsAccess at[2] = {lds_lanes(w, in.src[0], (in.imm & 0xff) * step),
                           lds_lanes(w, in.src[0], ((in.imm >> 8) & 0xff) * step)};
  Lanes old[4];
  for (int half = 0; half < 2; ++half) {
    check_lds(w, at[half], sizeof(T), true);
    const u32* d = w.row(in.src[1 + half]);
    for (int i = 0; i < kLanes; ++i) {
      if (!((at[half].active >> i) & 1)) continue;
      T before;
      const T after = data_of<T>(d, d + kLanes, i);
      __builtin_memcpy(&before, w.lds + at[half].at[i], sizeof(T));
      __builtin_memcpy(w.lds + at[half].at[i], &after, sizeof(T));
      old[half * kWords].v[i] = static_cast<u32>(before);
      if (kWords == 2) {
        old[half * kWords + 1].v[i] = static_cast<u32>(static_cast<u64>(before) >> 32);
      }
    }
  }
  wrote_lds(w);
  for (int k = 0; k < 2 * kWords; ++k) write_word(w, in.dst, k, old[k].v);
  count_lds(w, at[0], 2 * sizeof(T));
  end_memory(w);
}

/// The sum over the active lanes, returned to the first of them, as one atomic (ds_append,
/// ds_consume: a count of lanes).
template <bool consume>
void append(Wave& w, const Instruction& in) {
  const u32 at = (w.sgpr[kM0] & 0xffff) + static_cast<u32>(in.offset);
  if (uint64_t{at} + 4 > w.lds_bytes) fault_lds(w, "atomic access of", at, 4, -1);
  const u32 lanes = static_cast<u32>(__builtin_popcountll(w.exec()));
  u32 old;
  __builtin_memcpy(&old, w.lds + at, 4);
  const u32 value = consume ? old - lanes : old + lanes;
  __builtin_memcpy(w.lds + at, &value, 4);
  wrote_lds(w);
  Lanes r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = old;
  write_word(w, in.dst, 0, r.v);
  end_memory(w);
}

constexpr OpRow row(const char* name, Handler h, bool returns) {
  return {name,         h,
          OpClass::lds, returns ? uint8_t{1} : uint8_t{0},
          Type::b32,    {Type::b32, Type::b32, Type::b32}};
}

#define BATON_RMW(op, suffix, T, function)                  \
  row("ds_" op "_" suffix, rmw<T, function, false>, false), \
      row("ds_" op "_rtn_" suffix, rmw<T, function, true>, true)
#define BATON_BOTH(op, kind, function) \
  BATON_RMW(op, kind "32", u32, function<u32>), BATON_RMW(op, kind "64", u64, function<u64>)

constexpr OpRow kRows[] = {
    BATON_BOTH("add", "u", rmw_add),
    BATON_BOTH("sub", "u", rmw_sub),
    BATON_BOTH("rsub", "u", rmw_rsub),
    BATON_BOTH("inc", "u", rmw_inc),
    BATON_BOTH("dec", "u", rmw_dec),
    BATON_BOTH("min", "i", rmw_smin),
    BATON_BOTH("max", "i", rmw_smax),
    BATON_BOTH("min", "u", rmw_umin),
    BATON_BOTH("max", "u", rmw_umax),
    BATON_BOTH("and", "b", rmw_and),
    BATON_BOTH("or", "b", rmw_or),
    BATON_BOTH("xor", "b", rmw_xor),
    row("ds_wrxchg_rtn_b32", rmw<u32, rmw_swap<u32>, true>, true),
    row("ds_wrxchg_rtn_b64", rmw<u64, rmw_swap<u64>, true>, true),
    BATON_RMW("add", "f32", u32, rmw_add_f32),
    BATON_RMW("min", "f32", u32, rmw_min_f32),
    BATON_RMW("max", "f32", u32, rmw_max_f32),
    BATON_RMW("add", "f64", u64, rmw_add_f64),
    BATON_RMW("min", "f64", u64, rmw_min_f64),
    BATON_RMW("max", "f64", u64, rmw_max_f64),
    BATON_RMW("pk_add", "f16", u32, rmw_pk_add_f16),
    BATON_RMW("pk_add", "bf16", u32, rmw_pk_add_bf16),
    row("ds_cmpst_b32", cmpst<u32, false>, false),
    row("ds_cmpst_rtn_b32", cmpst<u32, true>, true),
    row("ds_cmpst_b64", cmpst<u64, false>, false),
    row("ds_cmpst_rtn_b64", cmpst<u64, true>, true),
    row("ds_cmpst_f32", cmpst_f32<false>, false),
    row("ds_cmpst_rtn_f32", cmpst_f32<true>, true),
    row("ds_cmpst_f64", cmpst_f64<false>, false),
    row("ds_cmpst_rtn_f64", cmpst_f64<true>, true),
    row("ds_mskor_b32", mskor<u32, false>, false),
    row("ds_mskor_rtn_b32", mskor<u32, true>, true),
    row("ds_mskor_b64", mskor<u64, false>, false),
    row("ds_mskor_rtn_b64", mskor<u64, true>, true),
    row("ds_wrap_rtn_b32", wrap, true),
    row("ds_wrxchg2_rtn_b32", exchange2<u32, 1>, true),
    row("ds_wrxchg2st64_rtn_b32", exchange2<u32, 64>, true),
    row("ds_wrxchg2_rtn_b64", exchange2<u64, 1>, true),
    row("ds_wrxchg2st64_rtn_b64", exchange2<u64, 64>, true),
    row("ds_append", append<false>, true),
    row("ds_consume", append<true>, true),
};

}  // namespace

OpTable lds_atomic_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
