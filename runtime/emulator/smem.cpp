// Scalar memory: loads, buffer loads, clocks. The scalar cache's maintenance has nothing to do
// here.
#include <cstring>

#include "runtime/emulator/buffer_resource.h"
#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/memory_access.h"
#include "runtime/emulator/scalar_families.h"
#include "runtime/emulator/scalar_operands.h"

namespace baton::emulator {
namespace {

/// Text: "s_load_dwordx2 dst, base, offset [offset:imm]".
uint64_t offset_of(const Wave& w, const Instruction& in, int which) {
  const Operand& o = in.src[which];
  const int64_t immediate = o.kind == OperandKind::constant ? int64_t{static_cast<int32_t>(o.value)}
                                                            : int64_t{w.sgpr[o.index]};
  return static_cast<uint64_t>(immediate + in.offset);
}

template <int words>
void load(Wave& w, const Instruction& in) {
  const uint64_t address = (w.sgpr64(in.src[0].index) + offset_of(w, in, 1)) & ~uint64_t{3};
  const uint8_t* from = resolve(w, address, words * 4, -1, false);
  note_load(w, address, words * 4);
  uint32_t value[words];
  std::memcpy(value, from, sizeof(value));
  for (int i = 0; i < words; ++i) w.set_sgpr(in.dst.index + i, value[i]);
  w.spin.last_value = value[0];
  count_bytes(w, false, words * 4);
  end_memory(w);
}

template <int words>
void store(Wave& w, const Instruction& in) {
  const uint64_t address = (w.sgpr64(in.src[1].index) + offset_of(w, in, 2)) & ~uint64_t{3};
  uint8_t* to = resolve(w, address, words * 4, -1, true);
  std::memcpy(to, &w.sgpr[in.src[0].index], words * 4);
  note_store(w, address, words * 4);
  count_bytes(w, true, words * 4);
  end_memory(w);
}

template <int words>
void buffer_load(Wave& w, const Instruction& in) {
  const BufferResource resource = BufferResource::read(&w.sgpr[in.src[0].index]);
  const uint64_t limit =
      resource.stride ? uint64_t{resource.records} * resource.stride : uint64_t{resource.records};
  const uint64_t offset = offset_of(w, in, 1) & ~uint64_t{3};
  uint64_t moved = 0;
  for (int i = 0; i < words; ++i) {
    const uint64_t at = offset + 4 * static_cast<uint64_t>(i);
    uint32_t value = 0;
    if (at + 4 <= limit) {
      const uint8_t* from = resolve(w, resource.base + at, 4, -1, false);
      note_load(w, resource.base + at, 4);
      std::memcpy(&value, from, 4);
      moved += 4;
    }
    w.set_sgpr(in.dst.index + i, value);
  }
  if (moved != 0) count_bytes(w, false, moved);
  end_memory(w);
}

/// Core clocks of a 2.1 GHz chip.
void memtime(Wave& w, const Instruction& in) {
  w.spin.reads_clock = true;
  w.set_sgpr64(in.dst.index, w.dispatch->clock->now(w.worker->steps) * 21);
}
void memrealtime(Wave& w, const Instruction& in) {
  w.spin.reads_clock = true;
  w.set_sgpr64(in.dst.index, w.dispatch->clock->now(w.worker->steps));
}
void nothing(Wave&, const Instruction&) {}

constexpr OpClass kM = OpClass::smem;
constexpr OpRow load_row(const char* name, Handler h) {
  return {name, h, kM, 1, Type::b32, {Type::b64, Type::b32, Type::b32}};
}
constexpr OpRow store_row(const char* name, Handler h) {
  return {name, h, kM, 0, Type::none, {Type::b32, Type::b64, Type::b32}};
}

constexpr OpRow kRows[] = {
    load_row("s_load_dword", load<1>),
    load_row("s_load_dwordx2", load<2>),
    load_row("s_load_dwordx4", load<4>),
    load_row("s_load_dwordx8", load<8>),
    load_row("s_load_dwordx16", load<16>),
    store_row("s_store_dword", store<1>),
    store_row("s_store_dwordx2", store<2>),
    store_row("s_store_dwordx4", store<4>),
    load_row("s_buffer_load_dword", buffer_load<1>),
    load_row("s_buffer_load_dwordx2", buffer_load<2>),
    load_row("s_buffer_load_dwordx4", buffer_load<4>),
    load_row("s_buffer_load_dwordx8", buffer_load<8>),
    load_row("s_buffer_load_dwordx16", buffer_load<16>),
    load_row("s_memtime", memtime),
    load_row("s_memrealtime", memrealtime),
    {"s_dcache_inv", nothing, OpClass::sync, 0, Type::none, {}},
    {"s_dcache_inv_vol", nothing, OpClass::sync, 0, Type::none, {}},
    {"s_dcache_wb", nothing, OpClass::sync, 0, Type::none, {}},
    {"s_dcache_wb_vol", nothing, OpClass::sync, 0, Type::none, {}},
};

}  // namespace

OpTable smem_rows() { return {kRows, std::size(kRows)}; }

}  // namespace baton::emulator
