// Read-modify-write operations: new value from the old one and the data.
#pragma once

#include "runtime/emulator/isa/float32.h"
#include "runtime/emulator/isa/half_math.h"

namespace baton::emulator::BATON_ISA {

BATON_INLINE int32_t as_signed(uint32_t x) { return static_cast<int32_t>(x); }
BATON_INLINE int64_t as_signed(uint64_t x) { return static_cast<int64_t>(x); }

template <typename T>
BATON_INLINE T rmw_swap(T, T data) {
  return data;
}
template <typename T>
BATON_INLINE T rmw_add(T old, T data) {
  return old + data;
}
template <typename T>
BATON_INLINE T rmw_sub(T old, T data) {
  return old - data;
}
template <typename T>
BATON_INLINE T rmw_rsub(T old, T data) {
  return data - old;
}
template <typename T>
BATON_INLINE T rmw_umin(T old, T data) {
  return data < old ? data : old;
}
template <typename T>
BATON_INLINE T rmw_umax(T old, T data) {
  return data > old ? data : old;
}
template <typename T>
BATON_INLINE T rmw_smin(T old, T data) {
  return as_signed(data) < as_signed(old) ? data : old;
}
template <typename T>
BATON_INLINE T rmw_smax(T old, T data) {
  return as_signed(data) > as_signed(old) ? data : old;
}
template <typename T>
BATON_INLINE T rmw_and(T old, T data) {
  return old & data;
}
template <typename T>
BATON_INLINE T rmw_or(T old, T data) {
  return old | data;
}
template <typename T>
BATON_INLINE T rmw_xor(T old, T data) {
  return old ^ data;
}
template <typename T>
BATON_INLINE T rmw_inc(T old, T data) {
  return old >= data ? 0 : old + 1;
}
template <typename T>
BATON_INLINE T rmw_dec(T old, T data) {
  return old == 0 || old > data ? data : old - 1;
}

BATON_INLINE uint32_t rmw_add_f32(uint32_t old, uint32_t data) {
  const float r = as_f32(old) + as_f32(data);
  return r != r ? nan_of(old, data, old) : as_u32(r);
}
BATON_INLINE uint32_t rmw_min_f32(uint32_t old, uint32_t data) { return min_number(old, data); }
BATON_INLINE uint32_t rmw_max_f32(uint32_t old, uint32_t data) { return max_number(old, data); }
BATON_INLINE uint64_t rmw_add_f64(uint64_t old, uint64_t data) {
  return as_u64(as_f64(old) + as_f64(data));
}
BATON_INLINE bool below(uint64_t a, uint64_t b) {
  const auto key = [](uint64_t x) {
    return x >> 63 ? -static_cast<int64_t>(x & ~(uint64_t{1} << 63)) - 1 : static_cast<int64_t>(x);
  };
  return key(a) < key(b);
}
BATON_INLINE uint64_t rmw_min_f64(uint64_t old, uint64_t data) {
  if (as_f64(old) != as_f64(old)) return data;
  if (as_f64(data) != as_f64(data)) return old;
  return below(data, old) ? data : old;
}
BATON_INLINE uint64_t rmw_max_f64(uint64_t old, uint64_t data) {
  if (as_f64(old) != as_f64(old)) return data;
  if (as_f64(data) != as_f64(data)) return old;
  return below(old, data) ? data : old;
}
BATON_INLINE uint32_t rmw_pk_add_f16(uint32_t old, uint32_t data) {
  return half_add(old & 0xffff, data & 0xffff) | half_add(old >> 16, data >> 16) << 16;
}
BATON_INLINE uint32_t rmw_pk_add_bf16(uint32_t old, uint32_t data) {
  const uint32_t lo = f32_to_bf16(as_f32(old << 16) + as_f32(data << 16));
  const uint32_t hi = f32_to_bf16(as_f32(old & 0xffff0000) + as_f32(data & 0xffff0000));
  return lo | hi << 16;
}

}  // namespace baton::emulator::BATON_ISA
