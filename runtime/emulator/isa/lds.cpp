// ds_read, ds_write and their two-address and sub-word forms.
#include "runtime/emulator/isa/families.h"
#include "runtime/emulator/isa/lds_lanes.h"

namespace baton::emulator::BATON_ISA {
namespace {

/// Reads `words` words at `a` into the registers from `first` on.
template <int words>
BATON_INLINE void read_lanes(Wave& w, const LdsAccess& a, const Operand& dst, int first) {
  uint32_t* d[4];
  for (int k = 0; k < words; ++k) d[k] = w.row(dst, first + k);
  if (a.active == ~uint64_t{0}) {
    for (int k = 0; k < words; ++k) {
      uint32_t* to = d[k];
      const uint8_t* lds = w.lds + 4 * k;
      BATON_LANE_LOOP
      for (int i = 0; i < kLanes; ++i) {
        to[i] = *reinterpret_cast<const AliasedU32*>(lds + a.at[i]);
      }
    }
    return;
  }
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    for (int k = 0; k < words; ++k) d[k][i] = read_u32(w.lds + a.at[i] + 4 * k);
  }
}

template <int words>
BATON_INLINE void write_lanes(Wave& w, const LdsAccess& a, const Operand& data) {
  const uint32_t* d[4];
  for (int k = 0; k < words; ++k) d[k] = w.row(data, k);
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    for (int k = 0; k < words; ++k) {
      *reinterpret_cast<AliasedU32*>(w.lds + a.at[i] + 4 * k) = d[k][i];
    }
  }
}

template <int words>
void read(Wave& w, const Instruction& in) {
  const LdsAccess a = lds_lanes(w, in.src[0], static_cast<uint32_t>(in.offset));
  check_lds(w, a, words * 4, false);
  w.spin.reads_lds = true;
  read_lanes<words>(w, a, in.dst, 0);
  count_lds(w, a, words * 4);
  end_memory(w);
}

template <int words>
void write_op(Wave& w, const Instruction& in) {
  const LdsAccess a = lds_lanes(w, in.src[0], static_cast<uint32_t>(in.offset));
  check_lds(w, a, words * 4, true);
  wrote_lds(w);
  write_lanes<words>(w, a, in.src[1]);
  count_lds(w, a, words * 4);
  end_memory(w);
}

/// Two places, each with an 8-bit offset in units of the element (or of 64 elements).
template <int words, int unit>
void read2(Wave& w, const Instruction& in) {
  const uint32_t offset0 = (in.imm & 0xff) * words * 4 * unit;
  const uint32_t offset1 = ((in.imm >> 8) & 0xff) * words * 4 * unit;
  const LdsAccess a0 = lds_lanes(w, in.src[0], offset0);
  const LdsAccess a1 = lds_lanes(w, in.src[0], offset1);
  check_lds(w, a0, words * 4, false);
  check_lds(w, a1, words * 4, false);
  w.spin.reads_lds = true;
  read_lanes<words>(w, a0, in.dst, 0);
  read_lanes<words>(w, a1, in.dst, words);
  count_lds(w, a0, words * 8);
  end_memory(w);
}

template <int words, int unit>
void write2(Wave& w, const Instruction& in) {
  const uint32_t offset0 = (in.imm & 0xff) * words * 4 * unit;
  const uint32_t offset1 = ((in.imm >> 8) & 0xff) * words * 4 * unit;
  const LdsAccess a0 = lds_lanes(w, in.src[0], offset0);
  const LdsAccess a1 = lds_lanes(w, in.src[0], offset1);
  check_lds(w, a0, words * 4, true);
  check_lds(w, a1, words * 4, true);
  wrote_lds(w);
  write_lanes<words>(w, a0, in.src[1]);
  write_lanes<words>(w, a1, in.src[2]);
  count_lds(w, a0, words * 8);
  end_memory(w);
}

template <Narrow kind>
void read_small(Wave& w, const Instruction& in) {
  const LdsAccess a = lds_lanes(w, in.src[0], static_cast<uint32_t>(in.offset));
  check_lds(w, a, narrow_bytes(kind), false);
  w.spin.reads_lds = true;
  uint32_t* d = w.row(in.dst);
  for (int i = 0; i < kLanes; ++i) {
    if ((a.active >> i) & 1) d[i] = narrow_value<kind>(w.lds + a.at[i], d[i]);
  }
  count_lds(w, a, narrow_bytes(kind));
  end_memory(w);
}

template <int bytes, bool high>
void write_small(Wave& w, const Instruction& in) {
  const LdsAccess a = lds_lanes(w, in.src[0], static_cast<uint32_t>(in.offset));
  check_lds(w, a, bytes, true);
  wrote_lds(w);
  const uint32_t* d = w.row(in.src[1]);
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    const uint32_t v = high ? d[i] >> 16 : d[i];
    if (bytes == 2) {
      put_u16(w.lds + a.at[i], v);
    } else {
      put_u8(w.lds + a.at[i], v);
    }
  }
  count_lds(w, a, bytes);
  end_memory(w);
}

/// At M0's offset, by thread id.
void read_addtid(Wave& w, const Instruction& in) {
  LdsAccess a;
  for (uint32_t i = 0; i < kLanes; ++i) {
    a.at[i] = (w.sgpr[kM0] & 0xffff) + static_cast<uint32_t>(in.offset) + 4 * i;
  }
  a.active = w.exec();
  check_lds(w, a, 4, false);
  w.spin.reads_lds = true;
  read_lanes<1>(w, a, in.dst, 0);
  count_lds(w, a, 4);
}
void write_addtid(Wave& w, const Instruction& in) {
  LdsAccess a;
  for (uint32_t i = 0; i < kLanes; ++i) {
    a.at[i] = (w.sgpr[kM0] & 0xffff) + static_cast<uint32_t>(in.offset) + 4 * i;
  }
  a.active = w.exec();
  check_lds(w, a, 4, true);
  wrote_lds(w);
  write_lanes<1>(w, a, in.src[0]);
  count_lds(w, a, 4);
}

/// gfx950: each lane reads 64 bits (96 for b6); groups of 16 lanes then exchange elements, so that
/// a column-major tile arrives as an MFMA operand.
template <int element_bits>
void read_transposed(Wave& w, const Instruction& in) {
  constexpr int words = element_bits == 6 ? 3 : 2;
  constexpr int elements = words * 32 / element_bits;
  const LdsAccess a = lds_lanes(w, in.src[0], static_cast<uint32_t>(in.offset));
  check_lds(w, a, words * 4, false);
  w.spin.reads_lds = true;
  uint32_t raw[kLanes][words] = {};
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    for (int k = 0; k < words; ++k) raw[i][k] = read_u32(w.lds + a.at[i] + 4 * k);
  }
  const auto bits = [&](int lane, int element) {
    uint32_t value = 0;
    for (int b = 0; b < element_bits; ++b) {
      const int bit = element * element_bits + b;
      value |= ((raw[lane][bit / 32] >> (bit % 32)) & 1) << b;
    }
    return value;
  };
  for (int i = 0; i < kLanes; ++i) {
    if (!((a.active >> i) & 1)) continue;
    // Within a group of 16 lanes the elements form a 16 x `elements` array, seen as rows of 16.
    const int group = i & ~15, column = i & 15;
    uint32_t out[words] = {};
    for (int e = 0; e < elements; ++e) {
      const int flat = e * 16 + column;
      const uint32_t value = bits(group + flat / elements, flat % elements);
      for (int b = 0; b < element_bits; ++b) {
        const int bit = e * element_bits + b;
        out[bit / 32] |= ((value >> b) & 1) << (bit % 32);
      }
    }
    for (int k = 0; k < words; ++k) w.row(in.dst, k)[i] = out[k];
  }
  count_lds(w, a, words * 4);
  end_memory(w);
}

void nothing(Wave&, const Instruction&) {}

constexpr OpRow load(const char* name, Handler h) {
  return {name, h, OpClass::lds, 1, Type::b32, {Type::b32, Type::b32, Type::b32}};
}
constexpr OpRow store(const char* name, Handler h) {
  return {name, h, OpClass::lds, 0, Type::none, {Type::b32, Type::b32, Type::b32}};
}

constexpr OpRow kRows[] = {
    load("ds_read_b32", read<1>),
    load("ds_read_b64", read<2>),
    load("ds_read_b96", read<3>),
    load("ds_read_b128", read<4>),
    store("ds_write_b32", write_op<1>),
    store("ds_write_b64", write_op<2>),
    store("ds_write_b96", write_op<3>),
    store("ds_write_b128", write_op<4>),
    load("ds_read2_b32", read2<1, 1>),
    load("ds_read2st64_b32", read2<1, 64>),
    load("ds_read2_b64", read2<2, 1>),
    load("ds_read2st64_b64", read2<2, 64>),
    store("ds_write2_b32", write2<1, 1>),
    store("ds_write2st64_b32", write2<1, 64>),
    store("ds_write2_b64", write2<2, 1>),
    store("ds_write2st64_b64", write2<2, 64>),
    load("ds_read_u8", read_small<Narrow::u8>),
    load("ds_read_i8", read_small<Narrow::i8>),
    load("ds_read_u16", read_small<Narrow::u16>),
    load("ds_read_i16", read_small<Narrow::i16>),
    load("ds_read_u8_d16", read_small<Narrow::u8_d16>),
    load("ds_read_u8_d16_hi", read_small<Narrow::u8_d16_hi>),
    load("ds_read_i8_d16", read_small<Narrow::i8_d16>),
    load("ds_read_i8_d16_hi", read_small<Narrow::i8_d16_hi>),
    load("ds_read_u16_d16", read_small<Narrow::b16_d16>),
    load("ds_read_u16_d16_hi", read_small<Narrow::b16_d16_hi>),
    store("ds_write_b8", write_small<1, false>),
    store("ds_write_b8_d16_hi", write_small<1, true>),
    store("ds_write_b16", write_small<2, false>),
    store("ds_write_b16_d16_hi", write_small<2, true>),
    load("ds_read_addtid_b32", read_addtid),
    store("ds_write_addtid_b32", write_addtid),
    load("ds_read_b64_tr_b4", read_transposed<4>),
    load("ds_read_b64_tr_b8", read_transposed<8>),
    load("ds_read_b64_tr_b16", read_transposed<16>),
    load("ds_read_b96_tr_b6", read_transposed<6>),
    store("ds_nop", nothing),
};

}  // namespace

OpTable lds_rows() { return {kRows, sizeof(kRows) / sizeof(kRows[0])}; }

}  // namespace baton::emulator::BATON_ISA
