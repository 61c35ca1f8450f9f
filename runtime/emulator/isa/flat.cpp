// global_*, scratch_* and flat_*: loads and stores by 64-bit address.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/flat_address.h"
#include "runtime/emulator/isa/memory_lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

constexpr uint32_t kWord = 4;

// -- global ---------------------------------------------------------------------------------------

/// Also what gfx90a writes as a load with the lds bit.
template <int words>
void global_load_lds(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = words * kWord;
  global_lanes(w, in, in.src[0], in.src[1], a);
  load_to_lds(w, in, a, Narrow::u8, false);
  end_memory(w);
}
template <Narrow kind>
void global_load_lds_small(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = narrow_bytes(kind);
  global_lanes(w, in, in.src[0], in.src[1], a);
  load_to_lds(w, in, a, kind, true);
  end_memory(w);
}
template <int words>
void global_load(Wave& w, const Instruction& in) {
  if (in.flags & kLds) return global_load_lds<words>(w, in);
  LaneAccess a;
  a.bytes = words * kWord;
  global_lanes(w, in, in.src[0], in.src[1], a);
  load_words<words>(w, a, in.dst);
  end_memory(w);
}
template <int words>
void global_store(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = words * kWord;
  global_lanes(w, in, in.src[0], in.src[2], a);
  store_words<words>(w, a, in.src[1]);
  end_memory(w);
}
template <Narrow kind>
void global_load_small(Wave& w, const Instruction& in) {
  if (in.flags & kLds) return global_load_lds_small<kind>(w, in);
  LaneAccess a;
  a.bytes = narrow_bytes(kind);
  global_lanes(w, in, in.src[0], in.src[1], a);
  load_narrow<kind>(w, a, in.dst);
  end_memory(w);
}
template <int bytes, bool high>
void global_store_small(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = bytes;
  global_lanes(w, in, in.src[0], in.src[2], a);
  store_narrow<bytes, high>(w, a, in.src[1]);
  end_memory(w);
}

// -- scratch --------------------------------------------------------------------------------------

/// A lane's value of at most a word goes to its place in LDS: M0, the offset, four bytes a lane.
template <Narrow kind, int bytes>
void scratch_load_lds(Wave& w, const Instruction& in) {
  const uint64_t base = (w.sgpr[kM0] & 0xffff) + static_cast<uint64_t>(int64_t{in.offset});
  for (int i = 0; i < kLanes; ++i) {
    if (!((w.exec() >> i) & 1)) continue;
    const uint64_t to = base + uint64_t{kWord} * static_cast<uint64_t>(i);
    if (to > w.lds_bytes || kWord > w.lds_bytes - to) fault_lds(w, "store to", to, kWord, i);
    uint32_t value = scratch_read(w, scratch_offset(w, in, in.src[0], in.src[1], i), bytes, i);
    if constexpr (bytes < 4) {
      const uint8_t raw[2] = {static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8)};
      value = narrow_value<kind>(raw, 0);
    }
    put_u32(w.lds + to, value);
  }
  w.spin.pure = false;
  w.spin.wrote_lds = true;
}
template <int words>
void scratch_load(Wave& w, const Instruction& in) {
  if constexpr (words == 1) {
    if (in.flags & kLds) return scratch_load_lds<Narrow::u8, 4>(w, in);
  }
  for (int i = 0; i < kLanes; ++i) {
    if (!((w.exec() >> i) & 1)) continue;
    const uint64_t offset = scratch_offset(w, in, in.src[0], in.src[1], i);
    uint32_t value[words];
    for (int k = 0; k < words; ++k) value[k] = scratch_read(w, offset + 4u * k, kWord, i);
    for (int k = 0; k < words; ++k) w.row(in.dst, k)[i] = value[k];
  }
}
template <int words>
void scratch_store(Wave& w, const Instruction& in) {
  w.spin.pure = false;
  for (int i = 0; i < kLanes; ++i) {
    if (!((w.exec() >> i) & 1)) continue;
    const uint64_t offset = scratch_offset(w, in, in.src[0], in.src[2], i);
    for (int k = 0; k < words; ++k) {
      scratch_write(w, offset + 4u * k, kWord, w.row(in.src[1], k)[i], i);
    }
  }
}
template <Narrow kind>
void scratch_load_small(Wave& w, const Instruction& in) {
  if (in.flags & kLds) return scratch_load_lds<kind, narrow_bytes(kind)>(w, in);
  uint32_t* d = w.row(in.dst);
  for (int i = 0; i < kLanes; ++i) {
    if (!((w.exec() >> i) & 1)) continue;
    const uint64_t offset = scratch_offset(w, in, in.src[0], in.src[1], i);
    const uint32_t raw = scratch_read(w, offset, narrow_bytes(kind), i);
    const uint8_t bytes[2] = {static_cast<uint8_t>(raw), static_cast<uint8_t>(raw >> 8)};
    d[i] = narrow_value<kind>(bytes, d[i]);
  }
}
template <int bytes, bool high>
void scratch_store_small(Wave& w, const Instruction& in) {
  w.spin.pure = false;
  const uint32_t* d = w.row(in.src[1]);
  for (int i = 0; i < kLanes; ++i) {
    if (!((w.exec() >> i) & 1)) continue;
    const uint64_t offset = scratch_offset(w, in, in.src[0], in.src[2], i);
    scratch_write(w, offset, bytes, high ? d[i] >> 16 : d[i], i);
  }
}

// -- flat: each lane's address says where it goes -------------------------------------------------

template <int words>
void flat_load(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = words * kWord;
  const FlatLanes flat = flat_lanes(w, in, in.src[0], a);
  for (int i = 0; i < kLanes; ++i) {
    if (!(((flat.shared | flat.in_private) >> i) & 1)) continue;
    uint32_t value[words];
    for (int k = 0; k < words; ++k) value[k] = flat_read(w, flat, a.address[i] + 4u * k, kWord, i);
    for (int k = 0; k < words; ++k) w.row(in.dst, k)[i] = value[k];
  }
  load_words<words>(w, a, in.dst);
  end_memory(w);
}
template <int words>
void flat_store(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = words * kWord;
  const FlatLanes flat = flat_lanes(w, in, in.src[0], a);
  for (int i = 0; i < kLanes; ++i) {
    if (!(((flat.shared | flat.in_private) >> i) & 1)) continue;
    for (int k = 0; k < words; ++k) {
      flat_write(w, flat, a.address[i] + 4u * k, kWord, w.row(in.src[1], k)[i], i);
    }
  }
  store_words<words>(w, a, in.src[1]);
  end_memory(w);
}
template <Narrow kind>
void flat_load_small(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = narrow_bytes(kind);
  const FlatLanes flat = flat_lanes(w, in, in.src[0], a);
  uint32_t* d = w.row(in.dst);
  for (int i = 0; i < kLanes; ++i) {
    if (!(((flat.shared | flat.in_private) >> i) & 1)) continue;
    const uint32_t raw = flat_read(w, flat, a.address[i], a.bytes, i);
    const uint8_t bytes[2] = {static_cast<uint8_t>(raw), static_cast<uint8_t>(raw >> 8)};
    d[i] = narrow_value<kind>(bytes, d[i]);
  }
  load_narrow<kind>(w, a, in.dst);
  end_memory(w);
}
template <int bytes, bool high>
void flat_store_small(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = bytes;
  const FlatLanes flat = flat_lanes(w, in, in.src[0], a);
  const uint32_t* d = w.row(in.src[1]);
  for (int i = 0; i < kLanes; ++i) {
    if (!(((flat.shared | flat.in_private) >> i) & 1)) continue;
    flat_write(w, flat, a.address[i], bytes, high ? d[i] >> 16 : d[i], i);
  }
  store_narrow<bytes, high>(w, a, in.src[1]);
  end_memory(w);
}

constexpr OpRow load(const char* name, Handler h) {
  return {name, h, OpClass::vmem_load, 1, Type::b32, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow store(const char* name, Handler h) {
  return {name, h, OpClass::vmem_store, 0, Type::none, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow to_lds(const char* name, Handler h) {
  return {name, h, OpClass::vmem_load, 0, Type::none, {Type::b32, Type::b32, Type::b32}};
}

#define BATON_FLAT_ROWS(prefix, space)                                                        \
  load(prefix "_load_dword", space##_load<1>), load(prefix "_load_dwordx2", space##_load<2>), \
      load(prefix "_load_dwordx3", space##_load<3>),                                          \
      load(prefix "_load_dwordx4", space##_load<4>),                                          \
      load(prefix "_load_ubyte", space##_load_small<Narrow::u8>),                             \
      load(prefix "_load_sbyte", space##_load_small<Narrow::i8>),                             \
      load(prefix "_load_ushort", space##_load_small<Narrow::u16>),                           \
      load(prefix "_load_sshort", space##_load_small<Narrow::i16>),                           \
      load(prefix "_load_ubyte_d16", space##_load_small<Narrow::u8_d16>),                     \
      load(prefix "_load_ubyte_d16_hi", space##_load_small<Narrow::u8_d16_hi>),               \
      load(prefix "_load_sbyte_d16", space##_load_small<Narrow::i8_d16>),                     \
      load(prefix "_load_sbyte_d16_hi", space##_load_small<Narrow::i8_d16_hi>),               \
      load(prefix "_load_short_d16", space##_load_small<Narrow::b16_d16>),                    \
      load(prefix "_load_short_d16_hi", space##_load_small<Narrow::b16_d16_hi>),              \
      store(prefix "_store_dword", space##_store<1>),                                         \
      store(prefix "_store_dwordx2", space##_store<2>),                                       \
      store(prefix "_store_dwordx3", space##_store<3>),                                       \
      store(prefix "_store_dwordx4", space##_store<4>),                                       \
      store(prefix "_store_byte", space##_store_small<1, false>),                             \
      store(prefix "_store_byte_d16_hi", space##_store_small<1, true>),                       \
      store(prefix "_store_short", space##_store_small<2, false>),                            \
      store(prefix "_store_short_d16_hi", space##_store_small<2, true>)

constexpr OpRow kRows[] = {
    BATON_FLAT_ROWS("global", global),
    BATON_FLAT_ROWS("scratch", scratch),
    BATON_FLAT_ROWS("flat", flat),
    to_lds("global_load_lds_dword", global_load_lds<1>),
    to_lds("global_load_lds_dwordx3", global_load_lds<3>),
    to_lds("global_load_lds_dwordx4", global_load_lds<4>),
    to_lds("global_load_lds_ubyte", global_load_lds_small<Narrow::u8>),
    to_lds("global_load_lds_sbyte", global_load_lds_small<Narrow::i8>),
    to_lds("global_load_lds_ushort", global_load_lds_small<Narrow::u16>),
    to_lds("global_load_lds_sshort", global_load_lds_small<Narrow::i16>),
    to_lds("scratch_load_lds_dword", scratch_load_lds<Narrow::u8, 4>),
    to_lds("scratch_load_lds_ubyte", scratch_load_lds<Narrow::u8, 1>),
    to_lds("scratch_load_lds_sbyte", scratch_load_lds<Narrow::i8, 1>),
    to_lds("scratch_load_lds_ushort", scratch_load_lds<Narrow::u16, 2>),
    to_lds("scratch_load_lds_sshort", scratch_load_lds<Narrow::i16, 2>),
};

}  // namespace

OpTable flat_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
