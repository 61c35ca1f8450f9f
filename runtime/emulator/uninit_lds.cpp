// LDS and private memory: the handlers move the undefined bits themselves.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/emulator/uninit.h"

namespace baton::emulator {
namespace {

/// Data operands of an access, in the moved instruction.
struct DataOperands {
  Operand* at[2] = {};
  int count = 0;
  bool load = false;
};

DataOperands data_operands(const UninitStep& step, Instruction& in) {
  DataOperands data;
  const auto add = [&](Operand& o) {
    if (is_vector(o)) data.at[data.count++] = &o;
  };
  if (step.u.rule == UninitRule::lds) {
    data.load = step.u.lds.load;
    if (data.load) {
      add(in.dst);
    } else {
      add(in.src[step.u.lds.addressed ? 1 : 0]);
      if (step.u.lds.places == 2) add(in.src[2]);
    }
  } else {
    data.load = step.u.rule == UninitRule::load;
    add(data.load ? in.dst : in.src[step.u.data]);
  }
  return data;
}

/// The wave's memory that is on the chip, replaced by what is known of it.
class OnShadow {
 public:
  OnShadow(const UninitStep& step, uint64_t lanes)
      : w_(step.w), lds_(w_.lds), scratch_(w_.scratch), exec_(w_.exec()), rehearsal_(w_) {
    w_.lds = step.group.lds.data();
    w_.scratch = step.shadow.scratch.data();
    w_.set_sgpr64(kExec, lanes);
  }
  ~OnShadow() {
    w_.set_sgpr64(kExec, exec_);
    w_.lds = lds_;
    w_.scratch = scratch_;
  }

 private:
  Wave& w_;
  uint8_t* const lds_;
  uint32_t* const scratch_;
  const uint64_t exec_;
  Rehearsal rehearsal_;
};

uint32_t* real_row(const UninitStep& step, uint32_t row) {
  return step.w.file[0] + size_t{row} * kLanes;
}

/// The LDS byte that lane `lane` accesses first at place `place`.
uint32_t lds_byte(const UninitStep& step, int lane, int place) {
  const Wave& w = step.w;
  const uint32_t offset = step.u.lds.offset[place];
  if (step.u.lds.addressed) return w.row(step.in.src[0])[lane] + offset;
  return (w.sgpr[kM0] & 0xffff) + offset + 4 * static_cast<uint32_t>(lane);
}

/// Where word `k` of a register comes from that was loaded from LDS.
Origin loaded_origin(const UninitStep& step, int lane, int k) {
  const int words = std::max(1, step.u.lds.bytes / 4);
  const uint32_t first = lds_byte(step, lane, k / words) + 4 * static_cast<uint32_t>(k % words);
  // The word may lie across two, and ds_read_b64_tr_* takes it from another lane's place.
  for (const uint32_t byte : {first, first + 3}) {
    if (byte >= step.group.lds.size() || step.group.lds[byte] == 0) continue;
    const Origin known = step.group.lds_origin[byte / 4];
    return step.origin_or_new(known, fmt::format("LDS byte {}", byte));
  }
  return step.origin_or_new(0, fmt::format("LDS byte {}", first));
}

void note_stored_origins(const UninitStep& step, const Operand& data, int place) {
  for (int k = 0; k < data.words; ++k) {
    const uint32_t row = step.shadow.row(data, k);
    for (uint64_t left = step.shadow.lanes(row) & step.w.exec(); left != 0; left &= left - 1) {
      const int lane = __builtin_ctzll(left);
      const uint32_t byte = lds_byte(step, lane, place) + 4 * static_cast<uint32_t>(k);
      if (byte / 4 >= step.group.lds_origin.size()) continue;
      const std::string what = fmt::format("{} of lane {}", register_name(data, k), lane);
      step.group.lds_origin[byte / 4] = step.origin_or_new(step.shadow.origin(row), what);
    }
  }
}

void check_lds_atomic(const UninitStep& step) {
  const uint64_t exec = step.w.exec();
  for (size_t k = 1; k < 3; ++k) {
    step.report_operand(step.in.src[k], exec, ~0u, "the atomic's value");
  }
  bool reported = false;
  for (uint64_t left = exec; left != 0; left &= left - 1) {
    const int lane = __builtin_ctzll(left);
    for (int place = 0; place < step.u.lds.places; ++place) {
      // append and consume have one address for all lanes.
      const uint32_t first =
          step.u.lds.addressed ? lds_byte(step, lane, place) : lds_byte(step, 0, 0);
      for (uint32_t b = first; b < first + static_cast<uint32_t>(step.u.lds.bytes); ++b) {
        if (b >= step.group.lds.size() || step.group.lds[b] == 0) continue;
        if (!reported) {
          step.report(lane, fmt::format("the atomic's LDS byte {}", b),
                      step.group.lds_origin[b / 4]);
        }
        reported = true;
        step.group.lds[b] = 0;
      }
    }
  }
  step.define(step.in.dst, exec);
}

}  // namespace

void shadow_access(const UninitStep& step, uint64_t lanes) {
  WaveShadow& s = step.shadow;
  if (s.scratch.empty()) s.scratch.assign(size_t{step.w.scratch_words} * kLanes, ~0u);
  Instruction moved = step.in;
  const DataOperands data = data_operands(step, moved);
  Operand original[2];
  uint32_t spare = s.spare_row();
  for (int d = 0; d < data.count; ++d) {
    Operand& o = *data.at[d];
    original[d] = o;
    for (int k = 0; k < o.words; ++k) {
      std::copy_n(s.bits(s.row(original[d], k)), kLanes,
                  real_row(step, spare + static_cast<uint32_t>(k)));
    }
    o.kind = OperandKind::vgpr;
    o.index = static_cast<uint16_t>(spare);
    spare += o.words;
  }
  {
    const OnShadow on_shadow(step, lanes);
    moved.handler(step.w, moved);
  }
  if (!data.load || data.count == 0) return;
  for (int k = 0; k < original[0].words; ++k) {
    const uint32_t row = s.row(original[0], k);
    std::copy_n(real_row(step, s.spare_row() + static_cast<uint32_t>(k)), kLanes, s.bits(row));
    s.refresh(row);
    const uint64_t undefined = s.lanes(row) & lanes;
    if (undefined == 0) continue;
    s.origin(row) = step.u.rule == UninitRule::lds
                        ? loaded_origin(step, __builtin_ctzll(undefined), k)
                        : step.origin_or_new(0, "private memory");
  }
}

void uninit_lds(const UninitStep& step) {
  const uint64_t exec = step.w.exec();
  if (step.u.lds.addressed) step.report_operand(step.in.src[0], exec, ~0u, "the LDS address");
  if (step.u.rule == UninitRule::lds_atomic) return check_lds_atomic(step);
  if (step.u.lds.store) {
    const int first = step.u.lds.addressed ? 1 : 0;
    for (int place = 0; place < step.u.lds.places; ++place) {
      note_stored_origins(step, step.in.src[first + place], place);
    }
  }
  shadow_access(step, exec);
}

}  // namespace baton::emulator
