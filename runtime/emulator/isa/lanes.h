// Operand fetch and result write-back for 64 lanes. Included by the files of this folder only: they
// are compiled once for each level of the host's vector instructions, each time into a namespace of
// its own (BATON_ISA), so that no inline function compiled for a newer CPU can be linked into the
// code for an older one. For the same reason they use no function templates of the standard
// library.
#pragma once

#include <cstdint>

#include "runtime/emulator/fault.h"
#include "runtime/emulator/instruction.h"
#include "runtime/emulator/wave.h"

#ifndef BATON_ISA
#error "compile this for a level: -DBATON_ISA=..."
#endif

#define BATON_INLINE inline __attribute__((always_inline))
#define BATON_LANE_LOOP _Pragma("clang loop vectorize(assume_safety) interleave(enable)")

namespace baton::emulator::BATON_ISA {

/// One 32-bit register of all lanes.
struct alignas(64) Lanes {
  uint32_t v[kLanes];
};

BATON_INLINE float as_f32(uint32_t bits) { return __builtin_bit_cast(float, bits); }
BATON_INLINE uint32_t as_u32(float value) { return __builtin_bit_cast(uint32_t, value); }
BATON_INLINE double as_f64(uint64_t bits) { return __builtin_bit_cast(double, bits); }
BATON_INLINE uint64_t as_u64(double value) { return __builtin_bit_cast(uint64_t, value); }

/// The lanes of EXEC as masks of ones.
BATON_INLINE const uint32_t* exec_lanes(Wave& w) {
  if (w.exec_lanes_stale) {
    const uint32_t lo = w.sgpr[kExec], hi = w.sgpr[kExec + 1];
    for (uint32_t i = 0; i < 32; ++i) {
      w.exec_lanes[i] = 0u - ((lo >> i) & 1);
      w.exec_lanes[i + 32] = 0u - ((hi >> i) & 1);
    }
    w.exec_lanes_stale = false;
  }
  return w.exec_lanes;
}

/// A 64-bit mask from lanes that hold 0 or 1.
BATON_INLINE uint64_t pack_mask(const uint32_t* bit) {
  uint64_t mask = 0;
  for (int b = 0; b < 8; ++b) {
    uint32_t byte = 0;
    for (int i = 0; i < 8; ++i) byte |= bit[b * 8 + i] << i;
    mask |= uint64_t{byte} << (8 * b);
  }
  return mask;
}

BATON_INLINE void unpack_mask(uint64_t mask, uint32_t* bit) {
  const uint32_t lo = static_cast<uint32_t>(mask), hi = static_cast<uint32_t>(mask >> 32);
  for (uint32_t i = 0; i < 32; ++i) {
    bit[i] = (lo >> i) & 1;
    bit[i + 32] = (hi >> i) & 1;
  }
}

/// The scalar value of an SGPR or constant operand, 32 and 64 bits wide, without modifiers.
BATON_INLINE uint32_t scalar32(const Wave& w, const Operand& o) {
  if (o.kind == OperandKind::constant) return static_cast<uint32_t>(o.value);
  return w.sgpr[o.index];
}
BATON_INLINE uint64_t scalar64(const Wave& w, const Operand& o) {
  if (o.kind == OperandKind::constant) return o.value;
  return w.sgpr64(o.index);
}

/// DPP, SDWA, op_sel and the sign modifiers, one place for all of them (not inlined: rare).
const uint32_t* fetch_slow(Wave& w, const Instruction& in, int which, uint32_t* scratch);
void fetch64_slow(Wave& w, const Instruction& in, int which, uint32_t* lo, uint32_t* hi);

/// Word 0 of source `which` for each lane, modifiers applied; may point into the register file.
BATON_INLINE const uint32_t* fetch(Wave& w, const Instruction& in, int which, Lanes& scratch) {
  const Operand& o = in.src[which];
  if (o.plain) [[likely]]
    return w.row(o);
  if (o.kind == OperandKind::constant) {
    const uint32_t value = static_cast<uint32_t>(o.value);
    for (int i = 0; i < kLanes; ++i) scratch.v[i] = value;
    return scratch.v;
  }
  if (o.kind == OperandKind::sgpr && !o.modifiers && o.index < kSharedBase) {
    const uint32_t value = w.sgpr[o.index];
    for (int i = 0; i < kLanes; ++i) scratch.v[i] = value;
    return scratch.v;
  }
  return fetch_slow(w, in, which, scratch.v);
}

struct Pair {
  const uint32_t* lo;
  const uint32_t* hi;
};

BATON_INLINE Pair fetch64(Wave& w, const Instruction& in, int which, Lanes (&scratch)[2]) {
  const Operand& o = in.src[which];
  if (o.plain) [[likely]]
    return {w.row(o), w.row(o, 1)};
  fetch64_slow(w, in, which, scratch[0].v, scratch[1].v);
  return {scratch[0].v, scratch[1].v};
}

/// Lanes that may be written: EXEC, less what DPP takes away.
uint64_t write_mask(Wave& w, const Instruction& in);

/// Writes a 32-bit result through omod, clamp, SDWA selection, op_sel, EXEC and DPP masks.
void write_slow(Wave& w, const Instruction& in, const uint32_t* result);

BATON_INLINE void write_masked(Wave& w, uint32_t* d, const uint32_t* result) {
  const uint32_t* mask = exec_lanes(w);
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) d[i] = (result[i] & mask[i]) | (d[i] & ~mask[i]);
}

BATON_INLINE void write_word(Wave& w, const Operand& dst, int word, const uint32_t* result) {
  uint32_t* d = w.row(dst, word);
  if (w.exec_full) {
    BATON_LANE_LOOP
    for (int i = 0; i < kLanes; ++i) d[i] = result[i];
  } else {
    write_masked(w, d, result);
  }
}

/// A 32-bit result of the instruction's first destination.
BATON_INLINE void write(Wave& w, const Instruction& in, const uint32_t* result) {
  if (in.flags & kPlainResult) [[likely]] {
    write_word(w, in.dst, 0, result);
  } else {
    write_slow(w, in, result);
  }
}

BATON_INLINE bool writes_directly(const Wave& w, const Instruction& in) {
  return w.exec_full && (in.flags & kPlainResult);
}

// -- element-wise integer handlers ----------------------------------------------------------------

template <uint32_t (*Op)(uint32_t)>
void lanes1(Wave& w, const Instruction& in) {
  Lanes s0, r;
  const uint32_t* a = fetch(w, in, 0, s0);
  if (writes_directly(w, in)) {
    uint32_t* d = w.row(in.dst);
    BATON_LANE_LOOP
    for (int i = 0; i < kLanes; ++i) d[i] = Op(a[i]);
    return;
  }
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) r.v[i] = Op(a[i]);
  write(w, in, r.v);
}

template <uint32_t (*Op)(uint32_t, uint32_t)>
void lanes2(Wave& w, const Instruction& in) {
  Lanes s0, s1, r;
  const uint32_t* a = fetch(w, in, 0, s0);
  const uint32_t* b = fetch(w, in, 1, s1);
  if (writes_directly(w, in)) {
    uint32_t* d = w.row(in.dst);
    BATON_LANE_LOOP
    for (int i = 0; i < kLanes; ++i) d[i] = Op(a[i], b[i]);
    return;
  }
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) r.v[i] = Op(a[i], b[i]);
  write(w, in, r.v);
}

template <uint32_t (*Op)(uint32_t, uint32_t, uint32_t)>
void lanes3(Wave& w, const Instruction& in) {
  Lanes s0, s1, s2, r;
  const uint32_t* a = fetch(w, in, 0, s0);
  const uint32_t* b = fetch(w, in, 1, s1);
  const uint32_t* c = fetch(w, in, 2, s2);
  if (writes_directly(w, in)) {
    uint32_t* d = w.row(in.dst);
    BATON_LANE_LOOP
    for (int i = 0; i < kLanes; ++i) d[i] = Op(a[i], b[i], c[i]);
    return;
  }
  BATON_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) r.v[i] = Op(a[i], b[i], c[i]);
  write(w, in, r.v);
}

/// The destination is the third source (v_fmac and its kin).
BATON_INLINE const uint32_t* fetch_dst(Wave& w, const Instruction& in) { return w.row(in.dst); }

/// 64-bit results, no DPP or SDWA exists for them.
template <typename Function>
BATON_INLINE void write64(Wave& w, const Instruction& in, Function value) {
  Lanes lo, hi;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t r = value(i);
    lo.v[i] = static_cast<uint32_t>(r);
    hi.v[i] = static_cast<uint32_t>(r >> 32);
  }
  if (in.flags & kDpp) {
    const uint64_t saved = w.exec();
    w.set_sgpr64(kExec, write_mask(w, in));
    write_word(w, in.dst, 0, lo.v);
    write_word(w, in.dst, 1, hi.v);
    w.set_sgpr64(kExec, saved);
    return;
  }
  write_word(w, in.dst, 0, lo.v);
  write_word(w, in.dst, 1, hi.v);
}

BATON_INLINE uint64_t join(uint32_t lo, uint32_t hi) { return lo | uint64_t{hi} << 32; }

}  // namespace baton::emulator::BATON_ISA
