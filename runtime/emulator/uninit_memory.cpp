// Memory to registers and back.
#include <algorithm>
#include <string_view>

#include "runtime/emulator/buffer_resource.h"
#include "runtime/emulator/uninit.h"

namespace baton::emulator {
namespace {

bool is_store(const UninitStep& step) { return step.u.rule == UninitRule::store; }

/// The operand that a load fills, or that a store or atomic takes its data from.
const Operand& data_of(const UninitStep& step) {
  return step.u.rule == UninitRule::load ? step.in.dst : step.in.src[step.u.data];
}

bool is_buffer(const UninitStep& step) {
  return std::string_view(step.in.name).starts_with("buffer");
}

const Operand& resource_of(const UninitStep& step) {
  return step.in.src[step.u.rule == UninitRule::load ? 1 : 2];
}

/// Lanes of EXEC whose access is not dropped by the resource's range check.
uint64_t lanes_in_range(const UninitStep& step) {
  const Wave& w = step.w;
  const uint64_t exec = w.exec();
  if (!is_buffer(step) || resource_of(step).kind != OperandKind::sgpr) return exec;
  const BufferResource r = BufferResource::read(&w.sgpr[resource_of(step).index]);
  if (r.swizzle || r.add_thread_id) return exec;
  const bool idxen = step.in.flags & kIdxen, offen = step.in.flags & kOffen;
  const Operand& vaddr = *(&resource_of(step) - 1);
  const Operand& soffset = *(&resource_of(step) + 1);
  const uint64_t scalar = soffset.kind == OperandKind::sgpr ? w.sgpr[soffset.index] : soffset.value;
  uint64_t lanes = 0;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t offset = (offen ? uint64_t{w.row(vaddr, idxen ? 1 : 0)[i]} : 0) +
                            static_cast<uint32_t>(step.in.offset);
    const bool in_range =
        idxen && r.stride ? w.row(vaddr)[i] < r.records : offset + scalar < r.records;
    lanes |= uint64_t{in_range} << i;
  }
  return lanes & exec;
}

/// Lanes of a flat access that go to LDS or to private memory.
uint64_t aperture_lanes(const UninitStep& step) {
  const Wave& w = step.w;
  if (!std::string_view(step.in.name).starts_with("flat")) return 0;
  const uint32_t* high = w.row(step.in.src[0], 1);
  uint64_t lanes = 0;
  for (int i = 0; i < kLanes; ++i) {
    const bool inside = high[i] == w.sgpr[kSharedBase + 1] || high[i] == w.sgpr[kPrivateBase + 1];
    lanes |= uint64_t{inside} << i;
  }
  return lanes & w.exec();
}

/// A load straight to LDS.
void define_lds(const UninitStep& step, uint64_t lanes) {
  const Wave& w = step.w;
  const std::string_view name = step.in.name;
  const uint64_t step_bytes = name.ends_with("x4") ? 16 : name.ends_with("x3") ? 12 : 4;
  const uint64_t base = (w.sgpr[kM0] & 0xffff) + static_cast<uint64_t>(int64_t{step.in.offset});
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint64_t to = base + step_bytes * static_cast<uint64_t>(__builtin_ctzll(lanes));
    if (to + step_bytes > step.group.lds.size()) continue;
    std::fill_n(step.group.lds.begin() + static_cast<ptrdiff_t>(to), step_bytes, uint8_t{0});
  }
}

}  // namespace

void uninit_memory(const UninitStep& step) {
  const uint64_t exec = step.w.exec(), lanes = lanes_in_range(step);
  const Operand& data = data_of(step);
  for (const Operand& o : step.in.src) {
    if (&o == &data) continue;
    step.report_operand(o, o.kind == OperandKind::sgpr ? exec : lanes, ~0u, "the address");
  }
  if (step.u.to_lds) {
    Operand m0;
    m0.kind = OperandKind::sgpr;
    m0.index = kM0;
    step.report_operand(m0, exec, 0xffff, "the LDS address");
  }
  if (std::string_view(step.in.name).starts_with("scratch")) return shadow_access(step, exec);
  if (step.u.to_lds) return define_lds(step, lanes);
  const uint64_t followed = aperture_lanes(step);
  if (followed != 0 && step.u.rule != UninitRule::atomic) shadow_access(step, followed);
  if (step.u.rule == UninitRule::load) {
    step.define(data, exec & ~followed, step.u.data_mask);
    return;
  }
  const bool in_private =
      is_buffer(step) && BufferResource::read(&step.w.sgpr[resource_of(step).index]).swizzle;
  if (!in_private) {
    step.report_operand(data, lanes & ~followed, step.u.data_mask,
                        is_store(step) ? "the stored value" : "the atomic's value");
  }
  if (step.u.rule == UninitRule::atomic && (step.in.flags & kSc0)) {
    step.define(is_buffer(step) ? data : step.in.dst, exec);
  }
}

}  // namespace baton::emulator
