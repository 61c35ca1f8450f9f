// 64 lanes' loads and stores of tracked memory. Lanes that lie side by side move as one block. A
// word pair that is 8-byte aligned is read and written in one piece, as LLVM's memory model
// promises.
#pragma once

#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/memory.h"
#include "runtime/emulator/memory_access.h"

namespace baton::emulator::BATON_ISA {

using AliasedU16 [[gnu::may_alias, gnu::aligned(1)]] = uint16_t;
using AliasedU32 [[gnu::may_alias, gnu::aligned(1)]] = uint32_t;
using AliasedU64 [[gnu::may_alias, gnu::aligned(1)]] = uint64_t;

BATON_INLINE uint32_t read_u8(const uint8_t* p) { return *static_cast<const volatile uint8_t*>(p); }
BATON_INLINE uint32_t read_u16(const uint8_t* p) {
  return *reinterpret_cast<const volatile AliasedU16*>(p);
}
BATON_INLINE uint32_t read_u32(const uint8_t* p) {
  return *reinterpret_cast<const volatile AliasedU32*>(p);
}
BATON_INLINE uint64_t read_u64(const uint8_t* p) {
  return *reinterpret_cast<const volatile AliasedU64*>(p);
}
BATON_INLINE void put_u8(uint8_t* p, uint32_t v) {
  *static_cast<volatile uint8_t*>(p) = static_cast<uint8_t>(v);
}
BATON_INLINE void put_u16(uint8_t* p, uint32_t v) {
  *reinterpret_cast<volatile AliasedU16*>(p) = static_cast<uint16_t>(v);
}
BATON_INLINE void put_u32(uint8_t* p, uint32_t v) {
  *reinterpret_cast<volatile AliasedU32*>(p) = v;
}
BATON_INLINE void put_u64(uint8_t* p, uint64_t v) {
  *reinterpret_cast<volatile AliasedU64*>(p) = v;
}

/// Where the lanes of an access go. `bytes` is what each lane moves.
struct LaneAccess {
  alignas(64) uint64_t address[kLanes];
  uint64_t active;
  uint32_t bytes;
  // Filled by place():
  uint64_t shift;
  uint64_t first;  ///< lowest address
  bool one_allocation;
  bool block;  ///< all 64 lanes, side by side in order
};

/// Finds the lanes' host memory; throws Fault for the first lane that has none.
BATON_INLINE void place(Wave& w, LaneAccess& a, bool store) {
  uint64_t low = ~uint64_t{0}, high = 0, irregular = 0;
  const uint64_t start = a.address[0];
  if (a.active == ~uint64_t{0}) {
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t x = a.address[i];
      low = x < low ? x : low;
      high = x > high ? x : high;
      irregular |= x ^ (start + static_cast<uint64_t>(i) * a.bytes);
    }
  } else {
    irregular = 1;
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t x = a.address[i];
      const bool on = (a.active >> i) & 1;
      low = on && x < low ? x : low;
      high = on && x > high ? x : high;
    }
  }
  a.first = low;
  a.block = irregular == 0;
  const Allocation* last = w.last_allocation;
  a.one_allocation = last && low <= high && low - last->base < last->bytes &&
                     high - low + a.bytes <= last->bytes - (low - last->base) && !last->freed;
  if (!a.one_allocation) {
    // Resolve one lane at a time; when they turn out to share an allocation, go on as one.
    for (int i = 0; i < kLanes; ++i) {
      if ((a.active >> i) & 1) resolve(w, a.address[i], a.bytes, i, store);
    }
    last = w.last_allocation;
    a.one_allocation =
        low - last->base < last->bytes && high - low + a.bytes <= last->bytes - (low - last->base);
  }
  a.shift = reinterpret_cast<uint64_t>(last->host) - last->base;
}

BATON_INLINE uint8_t* host_of(Wave& w, const LaneAccess& a, int lane, bool store) {
  if (a.one_allocation) return reinterpret_cast<uint8_t*>(a.address[lane] + a.shift);
  return resolve(w, a.address[lane], a.bytes, lane, store);
}

BATON_INLINE void note_loads(Wave& w, const LaneAccess& a) {
  if (!w.spin.active || !w.spin.pure) {
    w.spin.last_address = a.first;
    return;
  }
  if (a.block) {
    note_load(w, a.first, uint64_t{a.bytes} * kLanes);
    return;
  }
  uint64_t line = ~uint64_t{0};
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    const uint64_t end = (a.address[i] + a.bytes - 1) >> WatchTable::kLineShift;
    if (end == line && a.address[i] >> WatchTable::kLineShift == line) continue;
    line = end;
    note_load(w, a.address[i], a.bytes);
  }
}

BATON_INLINE void note_stores(Wave& w, const LaneAccess& a) {
  if (a.block) {
    note_store(w, a.first, uint64_t{a.bytes} * kLanes);
    return;
  }
  uint64_t line = ~uint64_t{0};
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    const uint64_t begin = a.address[i] >> WatchTable::kLineShift;
    const uint64_t end = (a.address[i] + a.bytes - 1) >> WatchTable::kLineShift;
    if (begin == line && end == line) continue;
    line = end;
    note_store(w, a.address[i], a.bytes);
  }
}

BATON_INLINE void count_access(Wave& w, const LaneAccess& a, bool store) {
  if (a.one_allocation) {
    count_bytes(w, store,
                uint64_t{a.bytes} * static_cast<uint64_t>(__builtin_popcountll(a.active)));
  } else {
    count_lanes(w, store, a.address, a.active, a.bytes);
  }
}

/// All lanes' words, side by side in memory. Two words that are 8-byte aligned are read at once, as
/// the chips do: another host thread may store them, a value and its tag.
template <int words>
BATON_INLINE void load_block(uint64_t host, uint32_t* const (&d)[4]) {
  const auto* from = reinterpret_cast<const AliasedU32*>(host);
  const auto* from64 = reinterpret_cast<const AliasedU64*>(host);
  if constexpr (words == 2 || words == 4) {
    for (int i = 0; i < kLanes; ++i) {
      for (int pair = 0; pair < words / 2; ++pair) {
        const uint64_t both = from64[words / 2 * i + pair];
        d[2 * pair][i] = static_cast<uint32_t>(both);
        d[2 * pair + 1][i] = static_cast<uint32_t>(both >> 32);
      }
    }
  } else {
    for (int k = 0; k < words; ++k) {
      uint32_t* to = d[k];
      BATON_LANE_LOOP
      for (int i = 0; i < kLanes; ++i) to[i] = from[words * i + k];
    }
  }
}

/// Loads 1 to 4 words a lane into consecutive registers.
template <int words>
BATON_INLINE void load_words(Wave& w, LaneAccess& a, const Operand& dst) {
  if (a.active == 0) return;
  place(w, a, false);
  note_loads(w, a);
  uint32_t* d[4];
  for (int k = 0; k < words; ++k) d[k] = w.row(dst, k);
  if (a.block) {
    load_block<words>(a.first + a.shift, d);
  } else {
    for (int i = 0; i < kLanes; ++i) {
      if (!((a.active >> i) & 1)) continue;
      const uint8_t* p = host_of(w, a, i, false);
      if (words == 1) {
        d[0][i] = read_u32(p);
      } else {
        const uint64_t low = read_u64(p);
        d[0][i] = static_cast<uint32_t>(low);
        d[1][i] = static_cast<uint32_t>(low >> 32);
        if (words == 3) d[2][i] = read_u32(p + 8);
        if (words == 4) {
          const uint64_t high = read_u64(p + 8);
          d[2][i] = static_cast<uint32_t>(high);
          d[3][i] = static_cast<uint32_t>(high >> 32);
        }
      }
    }
  }
  const int shown = __builtin_ctzll(a.active);
  w.spin.last_value = words == 1 ? d[0][shown] : join(d[0][shown], d[1][shown]);
  count_access(w, a, false);
}

template <int words>
BATON_INLINE void store_words(Wave& w, LaneAccess& a, const Operand& data) {
  if (a.active == 0) return;
  place(w, a, true);
  const uint32_t* d[4];
  for (int k = 0; k < words; ++k) d[k] = w.row(data, k);
  if (a.block) {
    auto* to = reinterpret_cast<AliasedU32*>(a.first + a.shift);
    if constexpr (words == 2 || words == 4) {
      auto* to64 = reinterpret_cast<AliasedU64*>(a.first + a.shift);
      for (int i = 0; i < kLanes; ++i) {
        for (int pair = 0; pair < words / 2; ++pair) {
          to64[words / 2 * i + pair] = join(d[2 * pair][i], d[2 * pair + 1][i]);
        }
      }
    } else {
      for (int i = 0; i < kLanes; ++i) {
        for (int k = 0; k < words; ++k) to[words * i + k] = d[k][i];
      }
    }
  } else {
    for (int i = 0; i < kLanes; ++i) {
      if (!((a.active >> i) & 1)) continue;
      uint8_t* p = host_of(w, a, i, true);
      if (words == 1) {
        put_u32(p, d[0][i]);
      } else {
        put_u64(p, join(d[0][i], d[1][i]));
        if (words == 3) put_u32(p + 8, d[2][i]);
        if (words == 4) put_u64(p + 8, join(d[2][i], d[3][i]));
      }
    }
  }
  note_stores(w, a);
  count_access(w, a, true);
}

/// What a load of less than a word does with its register.
enum class Narrow { u8, i8, u16, i16, u8_d16, u8_d16_hi, i8_d16, i8_d16_hi, b16_d16, b16_d16_hi };

constexpr uint32_t narrow_bytes(Narrow kind) {
  return kind == Narrow::u16 || kind == Narrow::i16 || kind == Narrow::b16_d16 ||
                 kind == Narrow::b16_d16_hi
             ? 2
             : 1;
}

template <Narrow kind>
BATON_INLINE uint32_t narrow_value(const uint8_t* p, uint32_t old) {
  const uint32_t raw = narrow_bytes(kind) == 2 ? read_u16(p) : read_u8(p);
  const uint32_t sext8 = static_cast<uint32_t>(int32_t{static_cast<int8_t>(raw)});
  switch (kind) {
    case Narrow::u8:
    case Narrow::u16:
      return raw;
    case Narrow::i8:
      return sext8;
    case Narrow::i16:
      return static_cast<uint32_t>(int32_t{static_cast<int16_t>(raw)});
    case Narrow::u8_d16:
    case Narrow::b16_d16:
      return (old & 0xffff0000) | raw;
    case Narrow::u8_d16_hi:
    case Narrow::b16_d16_hi:
      return (old & 0xffff) | raw << 16;
    case Narrow::i8_d16:
      return (old & 0xffff0000) | (sext8 & 0xffff);
    case Narrow::i8_d16_hi:
      return (old & 0xffff) | sext8 << 16;
  }
}

template <Narrow kind>
BATON_INLINE void load_narrow(Wave& w, LaneAccess& a, const Operand& dst) {
  if (a.active == 0) return;
  place(w, a, false);
  note_loads(w, a);
  uint32_t* d = w.row(dst);
  for (int i = 0; i < kLanes; ++i) {
    if ((a.active >> i) & 1) d[i] = narrow_value<kind>(host_of(w, a, i, false), d[i]);
  }
  w.spin.last_value = d[__builtin_ctzll(a.active)];
  count_access(w, a, false);
}

template <int bytes, bool high_half>
BATON_INLINE void store_narrow(Wave& w, LaneAccess& a, const Operand& data) {
  if (a.active == 0) return;
  place(w, a, true);
  const uint32_t* d = w.row(data);
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    const uint32_t v = high_half ? d[i] >> 16 : d[i];
    uint8_t* p = host_of(w, a, i, true);
    if (bytes == 2) {
      put_u16(p, v);
    } else {
      put_u8(p, v);
    }
  }
  note_stores(w, a);
  count_access(w, a, true);
}

/// A load straight to LDS: lane i's bytes go to M0's offset plus the instruction's plus i times
/// `bytes` (at least a word).
BATON_INLINE void load_to_lds(Wave& w, const Instruction& in, LaneAccess& a, Narrow narrow,
                              bool is_narrow) {
  if (a.active == 0) return;
  place(w, a, false);
  note_loads(w, a);
  const uint32_t step = a.bytes < 4 ? 4 : a.bytes;
  const uint64_t base = (w.sgpr[kM0] & 0xffff) + static_cast<uint64_t>(int64_t{in.offset});
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    const uint64_t to = base + uint64_t{step} * static_cast<uint64_t>(i);
    if (to > w.lds_bytes || step > w.lds_bytes - to) fault_lds(w, "store to", to, step, i);
    const uint8_t* from = host_of(w, a, i, false);
    if (is_narrow) {
      const uint32_t v = narrow == Narrow::u8    ? narrow_value<Narrow::u8>(from, 0)
                         : narrow == Narrow::i8  ? narrow_value<Narrow::i8>(from, 0)
                         : narrow == Narrow::u16 ? narrow_value<Narrow::u16>(from, 0)
                                                 : narrow_value<Narrow::i16>(from, 0);
      put_u32(w.lds + to, v);
    } else {
      for (uint32_t k = 0; k < step; k += 4) put_u32(w.lds + to + k, read_u32(from + k));
    }
  }
  w.spin.pure = false;
  w.spin.wrote_lds = true;
  count_access(w, a, false);
}

}  // namespace baton::emulator::BATON_ISA
