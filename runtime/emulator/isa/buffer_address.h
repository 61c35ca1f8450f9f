// Addresses and range checks of buffer instructions.
#pragma once

#include "runtime/emulator/buffer_resource.h"
#include "runtime/emulator/isa/memory_lanes.h"

namespace baton::emulator::BATON_ISA {

/// Which of EXEC's lanes are in range. `a.active` are those that are wholly in range.
struct BufferLanes {
  uint64_t outside;  ///< wholly out of range: loads give zero, stores are dropped
  uint64_t partial;  ///< words of them are in range
  uint64_t limit;    ///< of a raw buffer: in-range bytes, from base + soffset on
  uint64_t base;     ///< base + soffset
};

/// Raw: byte (offset + soffset) must lie below num_records. Structured (the resource has a stride
/// and the instruction an index): the index must lie below num_records, and in a swizzled buffer
/// the offset below the stride.
BATON_INLINE BufferLanes buffer_lanes(Wave& w, const Instruction& in, const Operand& vaddr,
                                      const Operand& srsrc, const Operand& soffset, LaneAccess& a) {
  const BufferResource r = BufferResource::read(&w.sgpr[srsrc.index]);
  const uint32_t s = scalar32(w, soffset);
  const bool idxen = in.flags & kIdxen, offen = in.flags & kOffen;
  const uint64_t exec = w.exec();
  const uint32_t immediate = static_cast<uint32_t>(in.offset);
  BufferLanes result = {0, 0, 0, r.base + s};
  if (!idxen && !r.add_thread_id && !r.swizzle) {
    const uint32_t room = r.records > s ? r.records - s : 0;
    const uint32_t* v = offen ? w.row(vaddr) : nullptr;
    uint64_t bad[kLanes];
    uint64_t any = 0;
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t offset = uint64_t{offen ? v[i] : 0} + immediate;
      a.address[i] = result.base + offset;
      bad[i] = offset + a.bytes > room;
      any |= bad[i];
    }
    a.active = exec;
    result.limit = room;
    if (any) {
      for (int i = 0; i < kLanes; ++i) {
        const uint64_t bit = uint64_t{1} << i;
        if (!bad[i] || !(exec & bit)) continue;
        a.active &= ~bit;
        const uint64_t offset = a.address[i] - result.base;
        (offset < room && a.bytes > 4 ? result.partial : result.outside) |= bit;
      }
      if (result.partial) {
        result.partial |= a.active | result.outside;
        a.active = exec;
      }
    }
    return result;
  }
  a.active = exec;
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t lane_index = r.add_thread_id ? static_cast<uint32_t>(i) : 0;
    const uint32_t index = (idxen ? w.row(vaddr)[i] : 0) + lane_index;
    const uint32_t v = offen ? w.row(vaddr, idxen ? 1 : 0)[i] : 0;
    const uint64_t offset = uint64_t{v} + immediate;
    bool bad = idxen && r.stride ? index >= r.records || (r.swizzle && offset >= r.stride)
                                 : offset + s + a.bytes > r.records;
    uint64_t at = uint64_t{index} * r.stride + offset;
    if (r.swizzle || r.add_thread_id) {
      const uint64_t high = index / r.index_stride, low = index % r.index_stride;
      at = (high * r.stride + offset / r.element_bytes * r.element_bytes) * r.index_stride +
           low * r.element_bytes + offset % r.element_bytes;
      if (r.add_thread_id) bad = false;
    }
    a.address[i] = result.base + at;
    if (bad && ((exec >> i) & 1)) {
      a.active &= ~(uint64_t{1} << i);
      result.outside |= uint64_t{1} << i;
    }
  }
  // Lanes interleave in units of an element: more words do not lie side by side.
  if ((r.swizzle || r.add_thread_id) && a.bytes > r.element_bytes) {
    result.partial = exec;
    result.limit = ~uint64_t{0};
  }
  return result;
}

BATON_INLINE uint64_t word_step(Wave& w, const Operand& srsrc) {
  const BufferResource r = BufferResource::read(&w.sgpr[srsrc.index]);
  return r.swizzle || r.add_thread_id ? uint64_t{4} * r.index_stride : 4;
}

BATON_INLINE void zero_registers(Wave& w, uint64_t lanes, int words, const Operand& dst) {
  for (int k = 0; k < words; ++k) {
    uint32_t* d = w.row(dst, k);
    for (int i = 0; i < kLanes; ++i) {
      if ((lanes >> i) & 1) d[i] = 0;
    }
  }
}

/// Word `k` of each lane, of those lanes where it is in range.
BATON_INLINE LaneAccess word_lanes(const LaneAccess& a, const BufferLanes& lanes, uint64_t step,
                                   int k) {
  LaneAccess one;
  one.bytes = 4;
  one.active = 0;
  for (int i = 0; i < kLanes; ++i) {
    one.address[i] = a.address[i] + step * static_cast<uint64_t>(k);
    const bool on = (a.active >> i) & 1 && one.address[i] - lanes.base + 4 <= lanes.limit;
    if (on) one.active |= uint64_t{1} << i;
  }
  return one;
}

BATON_INLINE void load_by_word(Wave& w, const Instruction& in, const BufferLanes& lanes, int words,
                               const LaneAccess& a, const Operand& dst) {
  const uint64_t step = word_step(w, in.src[1]);
  for (int k = 0; k < words; ++k) {
    LaneAccess one = word_lanes(a, lanes, step, k);
    Operand word = dst;
    word.index = static_cast<uint16_t>(word.index + k);
    zero_registers(w, w.exec() & ~one.active, 1, word);
    load_words<1>(w, one, word);
  }
}

BATON_INLINE void store_by_word(Wave& w, const Instruction& in, const BufferLanes& lanes, int words,
                                const LaneAccess& a, const Operand& data) {
  const uint64_t step = word_step(w, in.src[2]);
  for (int k = 0; k < words; ++k) {
    LaneAccess one = word_lanes(a, lanes, step, k);
    Operand word = data;
    word.index = static_cast<uint16_t>(word.index + k);
    store_words<1>(w, one, word);
  }
}

}  // namespace baton::emulator::BATON_ISA
