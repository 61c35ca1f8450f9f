// The 128-bit buffer resource of gfx9.
#pragma once

#include <cstdint>

namespace baton::emulator {

struct BufferResource {
  uint64_t base;     ///< 48 bits
  uint32_t stride;   ///< bytes a record, 14 bits (plus 4 more where thread ids are added); 0: raw
  uint32_t records;  ///< bytes when raw, else records
  bool swizzle;
  bool add_thread_id;
  uint32_t index_stride;   ///< of a swizzled buffer: 8, 16, 32 or 64 lanes
  uint32_t element_bytes;  ///< of a swizzled buffer: 2, 4, 8 or 16

  static BufferResource read(const uint32_t* sgpr) {
    BufferResource r;
    const uint32_t word1 = sgpr[1], word3 = sgpr[3];
    r.base = sgpr[0] | uint64_t{word1 & 0xffff} << 32;
    r.stride = (word1 >> 16) & 0x3fff;
    r.swizzle = word1 >> 31;
    r.records = sgpr[2];
    r.add_thread_id = (word3 >> 23) & 1;
    if (r.add_thread_id) r.stride |= ((word3 >> 15) & 0xf) << 14;
    r.index_stride = 8u << ((word3 >> 21) & 3);
    r.element_bytes = 2u << ((word3 >> 19) & 3);
    return r;
  }
};

}  // namespace baton::emulator
