// buffer_load, buffer_store: addressed through a resource, range checked.
#include "runtime/emulator/buffer_resource.h"
#include "runtime/emulator/isa/buffer_address.h"
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/memory_lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

/// Text: "buffer_load_dword vdata, vaddr|off, srsrc, soffset"; a load's data is `dst`, a store's
/// src[0].
template <int words>
void load(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = words * 4;
  const BufferLanes lanes = buffer_lanes(w, in, in.src[0], in.src[1], in.src[2], a);
  if (lanes.partial) {
    load_by_word(w, in, lanes, words, a, in.dst);
  } else {
    if (lanes.outside) zero_registers(w, lanes.outside, words, in.dst);
    load_words<words>(w, a, in.dst);
  }
  end_memory(w);
}

template <int words>
void store(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = words * 4;
  const BufferLanes lanes = buffer_lanes(w, in, in.src[1], in.src[2], in.src[3], a);
  if (lanes.partial) {
    store_by_word(w, in, lanes, words, a, in.src[0]);
  } else {
    store_words<words>(w, a, in.src[0]);
  }
  end_memory(w);
}

template <Narrow kind>
void load_small(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = narrow_bytes(kind);
  const BufferLanes lanes = buffer_lanes(w, in, in.src[0], in.src[1], in.src[2], a);
  if (in.flags & kLds) {
    load_to_lds(w, in, a, kind, true);
  } else {
    if (lanes.outside) {
      uint32_t* d = w.row(in.dst);
      const uint8_t zero[2] = {};
      for (int i = 0; i < kLanes; ++i) {
        if ((lanes.outside >> i) & 1) d[i] = narrow_value<kind>(zero, d[i]);
      }
    }
    load_narrow<kind>(w, a, in.dst);
  }
  end_memory(w);
}

/// With the lds bit the data goes to LDS and there is no register.
template <int words>
void load_or_lds(Wave& w, const Instruction& in) {
  if (!(in.flags & kLds)) return load<words>(w, in);
  LaneAccess a;
  a.bytes = words * 4;
  buffer_lanes(w, in, in.src[0], in.src[1], in.src[2], a);
  load_to_lds(w, in, a, Narrow::u8, false);
  end_memory(w);
}

template <int bytes, bool high_half>
void store_small(Wave& w, const Instruction& in) {
  LaneAccess a;
  a.bytes = bytes;
  buffer_lanes(w, in, in.src[1], in.src[2], in.src[3], a);
  store_narrow<bytes, high_half>(w, a, in.src[0]);
  end_memory(w);
}

/// Write-back and invalidation: memory is always coherent here.
void nothing(Wave&, const Instruction&) {}

constexpr OpRow load_row(const char* name, Handler h) {
  return {name, h, OpClass::vmem_load, 1, Type::b32, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow store_row(const char* name, Handler h) {
  return {name, h, OpClass::vmem_store, 0, Type::none, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow sync(const char* name) { return {name, nothing, OpClass::sync, 0, Type::none, {}}; }

constexpr OpRow kRows[] = {
    load_row("buffer_load_dword", load_or_lds<1>),
    load_row("buffer_load_dwordx2", load<2>),
    load_row("buffer_load_dwordx3", load_or_lds<3>),
    load_row("buffer_load_dwordx4", load_or_lds<4>),
    load_row("buffer_load_ubyte", load_small<Narrow::u8>),
    load_row("buffer_load_sbyte", load_small<Narrow::i8>),
    load_row("buffer_load_ushort", load_small<Narrow::u16>),
    load_row("buffer_load_sshort", load_small<Narrow::i16>),
    load_row("buffer_load_ubyte_d16", load_small<Narrow::u8_d16>),
    load_row("buffer_load_ubyte_d16_hi", load_small<Narrow::u8_d16_hi>),
    load_row("buffer_load_sbyte_d16", load_small<Narrow::i8_d16>),
    load_row("buffer_load_sbyte_d16_hi", load_small<Narrow::i8_d16_hi>),
    load_row("buffer_load_short_d16", load_small<Narrow::b16_d16>),
    load_row("buffer_load_short_d16_hi", load_small<Narrow::b16_d16_hi>),
    store_row("buffer_store_dword", store<1>),
    store_row("buffer_store_dwordx2", store<2>),
    store_row("buffer_store_dwordx3", store<3>),
    store_row("buffer_store_dwordx4", store<4>),
    store_row("buffer_store_byte", store_small<1, false>),
    store_row("buffer_store_byte_d16_hi", store_small<1, true>),
    store_row("buffer_store_short", store_small<2, false>),
    store_row("buffer_store_short_d16_hi", store_small<2, true>),
    sync("buffer_wbl2"),
    sync("buffer_inv"),
    sync("buffer_invl2"),
    sync("buffer_wbinvl1"),
    sync("buffer_wbinvl1_vol"),
};

}  // namespace

OpTable buffer_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
