// Addresses of global, scratch and flat instructions.
#pragma once

#include "runtime/emulator/isa/memory_lanes.h"

namespace baton::emulator::BATON_ISA {

/// "vaddr, off": a 64-bit address a lane. "vaddr, saddr": a scalar base and an unsigned 32-bit
/// offset.
BATON_INLINE void global_lanes(Wave& w, const Instruction& in, const Operand& vaddr,
                               const Operand& saddr, LaneAccess& a) {
  const uint64_t immediate = static_cast<uint64_t>(int64_t{in.offset});
  a.active = w.exec();
  const uint32_t* lo = w.row(vaddr);
  if (saddr.kind == OperandKind::sgpr) {
    const uint64_t base = w.sgpr64(saddr.index) + immediate;
    for (int i = 0; i < kLanes; ++i) a.address[i] = base + lo[i];
    return;
  }
  const uint32_t* hi = w.row(vaddr, 1);
  for (int i = 0; i < kLanes; ++i) a.address[i] = join(lo[i], hi[i]) + immediate;
}

/// A lane's byte offset in its private memory.
BATON_INLINE uint64_t scratch_offset(const Wave& w, const Instruction& in, const Operand& vaddr,
                                     const Operand& saddr, int lane) {
  uint32_t offset = static_cast<uint32_t>(in.offset);
  if (vaddr.kind == OperandKind::vgpr) offset += w.row(vaddr)[lane];
  if (saddr.kind == OperandKind::sgpr) offset += w.sgpr[saddr.index];
  return offset;
}

BATON_INLINE uint8_t* scratch_byte(Wave& w, uint64_t offset, int lane) {
  return reinterpret_cast<uint8_t*>(w.scratch + (offset / 4 * kLanes) + lane) + offset % 4;
}
BATON_INLINE uint32_t scratch_read(Wave& w, uint64_t offset, uint32_t bytes, int lane) {
  if (offset + bytes > uint64_t{w.scratch_words} * 4) fault_scratch(w, offset, bytes, lane);
  uint32_t value = 0;
  for (uint32_t k = 0; k < bytes; ++k)
    value |= uint32_t{*scratch_byte(w, offset + k, lane)} << 8 * k;
  return value;
}
BATON_INLINE void scratch_write(Wave& w, uint64_t offset, uint32_t bytes, uint32_t value,
                                int lane) {
  if (offset + bytes > uint64_t{w.scratch_words} * 4) fault_scratch(w, offset, bytes, lane);
  for (uint32_t k = 0; k < bytes; ++k) {
    *scratch_byte(w, offset + k, lane) = static_cast<uint8_t>(value >> (8 * k));
  }
}

/// The lanes of a flat access that do not go to global memory; `a.active` are those that do.
struct FlatLanes {
  uint64_t shared;
  uint64_t in_private;
};

BATON_INLINE FlatLanes flat_lanes(Wave& w, const Instruction& in, const Operand& vaddr,
                                  LaneAccess& a) {
  Operand none;
  none.kind = OperandKind::off;
  global_lanes(w, in, vaddr, none, a);
  FlatLanes flat = {0, 0};
  const uint32_t shared = w.sgpr[kSharedBase + 1], in_private = w.sgpr[kPrivateBase + 1];
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (!(a.active & bit)) continue;
    const uint32_t aperture = static_cast<uint32_t>(a.address[i] >> 32);
    if (aperture == shared) flat.shared |= bit;
    if (aperture == in_private) flat.in_private |= bit;
  }
  a.active &= ~(flat.shared | flat.in_private);
  return flat;
}

BATON_INLINE uint32_t flat_read(Wave& w, const FlatLanes& flat, uint64_t address, uint32_t bytes,
                                int lane) {
  const uint32_t offset = static_cast<uint32_t>(address);
  if (!((flat.shared >> lane) & 1)) return scratch_read(w, offset, bytes, lane);
  if (uint64_t{offset} + bytes > w.lds_bytes) fault_lds(w, "load of", offset, bytes, lane);
  w.spin.reads_lds = true;
  uint32_t value = 0;
  for (uint32_t k = 0; k < bytes; ++k) value |= uint32_t{w.lds[offset + k]} << (8 * k);
  return value;
}
BATON_INLINE void flat_write(Wave& w, const FlatLanes& flat, uint64_t address, uint32_t bytes,
                             uint32_t value, int lane) {
  const uint32_t offset = static_cast<uint32_t>(address);
  w.spin.pure = false;
  if (!((flat.shared >> lane) & 1)) return scratch_write(w, offset, bytes, value, lane);
  if (uint64_t{offset} + bytes > w.lds_bytes) fault_lds(w, "store to", offset, bytes, lane);
  w.spin.wrote_lds = true;
  for (uint32_t k = 0; k < bytes; ++k) w.lds[offset + k] = static_cast<uint8_t>(value >> (8 * k));
}

}  // namespace baton::emulator::BATON_ISA
