// Where a lane stands, and what lanes of a wave exchange.
#pragma once

#include <array>
#include <initializer_list>
#include <vector>

#include "dsl/value/functions.h"

namespace baton::dsl {

inline constexpr int kWaveLanes = 64;

/// This lane's number in its workgroup, and the workgroup's (the CTA's) in the grid.
I32 thread_id(SourceLocation at = SourceLocation::current());
I32 cta_id(SourceLocation at = SourceLocation::current());
/// thread_id % 64, and thread_id / 64 as a wave-uniform value.
I32 lane_id(SourceLocation at = SourceLocation::current());
I32 wave_id(SourceLocation at = SourceLocation::current());

/// Every lane of the workgroup arrives; what was written to LDS before is seen after.
void barrier(SourceLocation at = SourceLocation::current());

namespace detail {

Handle read_first_lane(TypeId type, Handle value, const SourceLocation& at);
Handle read_lane(TypeId type, Handle value, Handle lane, const SourceLocation& at);
Handle ballot(Handle predicate, const SourceLocation& at);
Handle wave_scan(Handle value, const SourceLocation& at);

/// Opens a butterfly's combiner; the arguments are a's values, then b's.
std::vector<Handle> begin_butterfly(std::span<const Handle> values, std::span<const int> offsets,
                                    const SourceLocation& at);
std::vector<Handle> end_butterfly(std::span<const Handle> results, const SourceLocation& at);

}  // namespace detail

/// The value of the first active lane, known to be the same in the whole wave.
template <class T>
T uniform(const T& value, SourceLocation at = SourceLocation::current()) {
  return T(detail::read_first_lane(T::type(), value.handle(), at));
}

/// The value of lane `lane` (wave-uniform).
template <class T>
T read_lane(const T& value, In<I32> lane) {
  return T(detail::read_lane(T::type(), value.handle(), lane.handle, lane.at));
}

/// Bit l is the predicate of lane l; 0 for inactive lanes.
inline I64 ballot(In<Bool> predicate) {
  return I64(detail::ballot(predicate.handle, predicate.at));
}

/// Combines each lane's value with that of lane ^ offset, offset after offset. `op` is symmetric:
/// butterfly({16, 8, 4, 2, 1}, x, [](F32 a, F32 b) { return a + b; }). All lanes of a group are
/// active.
template <class T, class Op>
T butterfly(std::initializer_list<int> offsets, const T& value, Op&& op,
            SourceLocation at = SourceLocation::current()) {
  const Handle input = value.handle();
  std::vector<Handle> pair = detail::begin_butterfly({&input, 1}, offsets, at);
  const T combined = op(T(pair[0]), T(pair[1]));
  const Handle result = combined.handle();
  return T(detail::end_butterfly({&result, 1}, at)[0]);
}

/// The same for N values of one type that are combined together, say a key and its index.
template <class T, size_t N, class Op>
std::array<T, N> butterfly(std::initializer_list<int> offsets, const std::array<T, N>& values,
                           Op&& op, SourceLocation at = SourceLocation::current()) {
  std::array<Handle, N> handles;
  for (size_t i = 0; i < N; ++i) handles[i] = values[i].handle();
  std::vector<Handle> pair = detail::begin_butterfly(handles, offsets, at);
  std::array<T, N> a, b, result;
  for (size_t i = 0; i < N; ++i) {
    a[i] = T(pair[i]);
    b[i] = T(pair[N + i]);
  }
  const std::array<T, N> combined = op(a, b);
  for (size_t i = 0; i < N; ++i) handles[i] = combined[i].handle();
  std::vector<Handle> outputs = detail::end_butterfly(handles, at);
  for (size_t i = 0; i < N; ++i) result[i] = T(outputs[i]);
  return result;
}

/// Sum over lanes 0 .. this one, and over the lanes before this one. The whole wave is active.
inline I32 wave_inclusive_sum(In<I32> value) {
  return I32(detail::wave_scan(value.handle, value.at));
}
inline I32 wave_exclusive_sum(In<I32> value) { return wave_inclusive_sum(value) - value; }

/// s_memrealtime: the 100 MHz clock.
I64 memrealtime(SourceLocation at = SourceLocation::current());
/// s_sleep: about 64 x `count` cycles, count a host number of 0 .. 127.
void sleep(int count, SourceLocation at = SourceLocation::current());
/// The compiler moves nothing across: what was issued before stays before.
void keep_order(SourceLocation at = SourceLocation::current());

}  // namespace baton::dsl
