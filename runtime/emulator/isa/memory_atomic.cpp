// global_atomic, flat_atomic and buffer_atomic. An atomic that leaves memory as it was counts as a
// load: a lock that is taken does not keep its waiters awake.
#include "runtime/emulator/isa/atomic_ops.h"
#include "runtime/emulator/isa/buffer_address.h"
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/flat_address.h"

namespace baton::emulator::BATON_ISA {
namespace {

template <typename T>
struct Data {
  const uint32_t* word[4];
  BATON_INLINE T value(int lane, int first) const {
    if constexpr (sizeof(T) == 4)
      return word[first][lane];
    else
      return join(word[first][lane], word[first + 1][lane]);
  }
};

/// Swaps in what `next` makes of the old value; returns the old one.
template <typename T, typename Next>
BATON_INLINE T exchange(T* p, Next next, bool& changed) {
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  for (;;) {
    const T value = next(old);
    if (value == old) {
      // Still a read-modify-write for other threads: confirm that nothing came between.
      if (__atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        return old;
      }
      continue;
    }
    if (__atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      changed = true;
      return old;
    }
  }
}

enum class Space { global, flat, buffer };

template <typename T, T (*Op)(T, T), bool compare>
BATON_INLINE T next_value(T old, const Data<T>& data, int lane) {
  constexpr int kWords = sizeof(T) / 4;
  // Compare-and-swap: the new value stands first, what it is compared with behind it.
  if constexpr (compare)
    return old == data.value(lane, kWords) ? data.value(lane, 0) : old;
  else
    return Op(old, data.value(lane, 0));
}

template <typename T, T (*Op)(T, T), bool compare>
BATON_INLINE T in_lds(Wave& w, uint64_t at, const Data<T>& data, int lane) {
  if (at + sizeof(T) > w.lds_bytes) fault_lds(w, "atomic access of", at, sizeof(T), lane);
  w.spin.pure = false;
  w.spin.wrote_lds = true;
  T old;
  __builtin_memcpy(&old, w.lds + at, sizeof(T));
  const T value = next_value<T, Op, compare>(old, data, lane);
  __builtin_memcpy(w.lds + at, &value, sizeof(T));
  return old;
}

template <Space space, typename T, T (*Op)(T, T), bool compare>
void atomic(Wave& w, const Instruction& in) {
  constexpr int kWords = sizeof(T) / 4;
  LaneAccess a;
  a.bytes = sizeof(T);
  FlatLanes flat = {0, 0};
  const Operand* data_operand = &in.src[1];
  if constexpr (space == Space::global) global_lanes(w, in, in.src[0], in.src[2], a);
  if constexpr (space == Space::flat) flat = flat_lanes(w, in, in.src[0], a);
  if constexpr (space == Space::buffer) {
    data_operand = &in.src[0];
    buffer_lanes(w, in, in.src[1], in.src[2], in.src[3], a);
  }
  Data<T> data;
  for (int k = 0; k < kWords * (compare ? 2 : 1); ++k) data.word[k] = w.row(*data_operand, k);
  Lanes result[2];
  const uint64_t done = a.active | flat.shared;
  if (flat.in_private) fault_unsupported(in, "an atomic on private memory");
  for (int i = 0; i < kLanes; ++i) {
    T old;
    if ((flat.shared >> i) & 1) {
      old = in_lds<T, Op, compare>(w, a.address[i] & 0xffffffff, data, i);
    } else if ((a.active >> i) & 1) {
      const uint64_t address = a.address[i];
      if (address % sizeof(T)) fault_misaligned(address, sizeof(T), i);
      uint8_t* p = resolve(w, address, sizeof(T), i, true);
      note_load(w, address, sizeof(T));
      bool changed = false;
      old = exchange(
          reinterpret_cast<T*>(p), [&](T x) { return next_value<T, Op, compare>(x, data, i); },
          changed);
      if (changed) note_store(w, address, sizeof(T));
    } else {
      continue;
    }
    result[0].v[i] = static_cast<uint32_t>(old);
    if (kWords == 2) result[1].v[i] = static_cast<uint32_t>(static_cast<uint64_t>(old) >> 32);
    w.spin.last_value = static_cast<uint64_t>(old);
  }
  count_lanes(w, true, a.address, a.active, sizeof(T));
  if (in.flags & kSc0) {
    const Operand& to = space == Space::buffer ? in.src[0] : in.dst;
    for (int k = 0; k < kWords; ++k) {
      uint32_t* d = w.row(to, k);
      for (int i = 0; i < kLanes; ++i) {
        if ((done >> i) & 1)
          d[i] = result[k].v[i];
        else if (space == Space::buffer && ((w.exec() >> i) & 1))
          d[i] = 0;
      }
    }
  }
  end_memory(w);
}

using u32 = uint32_t;
using u64 = uint64_t;

template <Space space>
constexpr OpRow row(const char* name, Handler h) {
  return {name,
          h,
          OpClass::atomic,
          space == Space::buffer ? uint8_t{0} : kResultIfSc0,
          Type::b32,
          {Type::b32, Type::b32, Type::b32}};
}

#define BATON_PAIR(prefix, space, op, function)                               \
  row<space>(prefix "_atomic_" op, atomic<space, u32, function<u32>, false>), \
      row<space>(prefix "_atomic_" op "_x2", atomic<space, u64, function<u64>, false>)

#define BATON_ATOMICS(prefix, space)                                                            \
  BATON_PAIR(prefix, space, "swap", rmw_swap), BATON_PAIR(prefix, space, "add", rmw_add),       \
      BATON_PAIR(prefix, space, "sub", rmw_sub), BATON_PAIR(prefix, space, "umin", rmw_umin),   \
      BATON_PAIR(prefix, space, "umax", rmw_umax), BATON_PAIR(prefix, space, "smin", rmw_smin), \
      BATON_PAIR(prefix, space, "smax", rmw_smax), BATON_PAIR(prefix, space, "and", rmw_and),   \
      BATON_PAIR(prefix, space, "or", rmw_or), BATON_PAIR(prefix, space, "xor", rmw_xor),       \
      BATON_PAIR(prefix, space, "inc", rmw_inc), BATON_PAIR(prefix, space, "dec", rmw_dec),     \
      row<space>(prefix "_atomic_cmpswap", atomic<space, u32, rmw_swap<u32>, true>),            \
      row<space>(prefix "_atomic_cmpswap_x2", atomic<space, u64, rmw_swap<u64>, true>),         \
      row<space>(prefix "_atomic_add_f32", atomic<space, u32, rmw_add_f32, false>),             \
      row<space>(prefix "_atomic_pk_add_f16", atomic<space, u32, rmw_pk_add_f16, false>),       \
      row<space>(prefix "_atomic_pk_add_bf16", atomic<space, u32, rmw_pk_add_bf16, false>),     \
      row<space>(prefix "_atomic_add_f64", atomic<space, u64, rmw_add_f64, false>),             \
      row<space>(prefix "_atomic_min_f64", atomic<space, u64, rmw_min_f64, false>),             \
      row<space>(prefix "_atomic_max_f64", atomic<space, u64, rmw_max_f64, false>)

constexpr OpRow kRows[] = {
    BATON_ATOMICS("global", Space::global),
    BATON_ATOMICS("flat", Space::flat),
    BATON_ATOMICS("buffer", Space::buffer),
};

}  // namespace

OpTable memory_atomic_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
