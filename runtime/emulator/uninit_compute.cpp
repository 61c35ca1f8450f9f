// Registers to registers.
#include <algorithm>

#include "runtime/emulator/uninit.h"

namespace baton::emulator {
namespace {

constexpr int kTrials = 5;

/// A value for undefined bits: all clear, all set, and some that make ordinary numbers.
uint32_t fill(int trial, uint32_t place) {
  if (trial == 0) return 0;
  if (trial == 1) return ~0u;
  if (trial == 2) return 0x3c013f81;
  uint32_t x = (place + static_cast<uint32_t>(trial) * 0x9e3779b9u) * 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}

/// Registers as their undefined bits vary.
class Trials {
 public:
  explicit Trials(const UninitStep& step) : step_(step) {
    const auto& registers = step.u.registers;
    for (const auto* list : {&registers.reads, &registers.writes}) {
      for (const Operand& o : *list) add(o);
    }
    // Of the moved instruction, where M0 moves registers.
    add(step.in.dst);
    for (const Operand& o : step.in.src) add(o);
    std::ranges::sort(rows_);
    const auto repeated = std::ranges::unique(rows_);
    rows_.erase(repeated.begin(), repeated.end());
  }

  void run() {
    Wave& w = step_.w;
    save();
    {
      const Rehearsal rehearsal(w);
      for (int trial = 0; trial < kTrials; ++trial) {
        set(trial);
        step_.in.handler(w, step_.in);
        compare(trial);
        restore();
      }
    }
  }

  /// The differences are the undefined bits now.
  void apply(Origin origin) const {
    WaveShadow& s = step_.shadow;
    for (size_t r = 0; r < rows_.size(); ++r) {
      std::copy_n(&difference_[r * kLanes], kLanes, s.bits(rows_[r]));
      s.refresh(rows_[r]);
    }
    if (origin != 0) set_origin(origin);
    std::copy_n(sgpr_difference_, static_cast<int>(kSharedBase), s.sgpr.begin());
    s.scc = scc_difference_;
  }

 private:
  void set_origin(Origin origin) const {
    WaveShadow& s = step_.shadow;
    const uint64_t lanes = step_.u.cross_lane ? ~uint64_t{0} : step_.w.exec();
    const auto set = [&](const Operand& o) {
      for (int k = 0; k < o.words; ++k) {
        if (is_scalar(o)) s.sgpr_origin[static_cast<size_t>(o.index + k)] = origin;
        if (!is_vector(o)) return;
        const uint32_t row = s.row(o, k);
        if (s.lanes(row) & lanes) s.origin(row) = origin;
      }
    };
    for (const Operand& o : step_.u.registers.writes) set(o);
    if (step_.w.gpr_index_mode) set(step_.in.dst);
    if (step_.u.registers.writes_scc) s.scc_origin = origin;
  }
  void add(const Operand& o) {
    if (!is_vector(o)) return;
    for (int k = 0; k < o.words; ++k) rows_.push_back(step_.shadow.row(o, k));
  }
  uint32_t* real(uint32_t row) const { return step_.w.file[0] + size_t{row} * kLanes; }

  void save() {
    saved_.resize(rows_.size() * kLanes);
    for (size_t r = 0; r < rows_.size(); ++r) {
      std::copy_n(real(rows_[r]), kLanes, &saved_[r * kLanes]);
    }
    std::copy_n(step_.w.sgpr, static_cast<int>(kSgprs), saved_sgpr_);
    saved_scc_ = step_.w.scc;
    difference_.assign(saved_.size(), 0);
  }
  void restore() {
    for (size_t r = 0; r < rows_.size(); ++r) {
      std::copy_n(&saved_[r * kLanes], kLanes, real(rows_[r]));
    }
    std::copy_n(saved_sgpr_, static_cast<int>(kSgprs), step_.w.sgpr);
    step_.w.scc = saved_scc_;
    step_.w.exec_changed();
  }
  void set(int trial) {
    const auto mix = [&](uint32_t value, uint32_t undefined, uint32_t place) {
      return (value & ~undefined) | (fill(trial, place) & undefined);
    };
    WaveShadow& s = step_.shadow;
    for (const uint32_t row : rows_) {
      if (s.lanes(row) == 0) continue;
      const uint32_t* bits = s.bits(row);
      uint32_t* to = real(row);
      for (uint32_t i = 0; i < kLanes; ++i) to[i] = mix(to[i], bits[i], row * kLanes + i);
    }
    for (uint32_t i = 0; i < kSharedBase; ++i) {
      step_.w.sgpr[i] = mix(step_.w.sgpr[i], s.sgpr[i], ~i);
    }
    if (s.scc) step_.w.scc = trial % 2;
  }
  void compare(int trial) {
    if (trial == 0) {
      first_.resize(saved_.size());
      for (size_t r = 0; r < rows_.size(); ++r) {
        std::copy_n(real(rows_[r]), kLanes, &first_[r * kLanes]);
      }
      std::copy_n(step_.w.sgpr, static_cast<int>(kSgprs), first_sgpr_);
      first_scc_ = step_.w.scc;
      return;
    }
    for (size_t r = 0; r < rows_.size(); ++r) {
      for (size_t i = 0; i < kLanes; ++i) {
        difference_[r * kLanes + i] |= first_[r * kLanes + i] ^ real(rows_[r])[i];
      }
    }
    for (size_t i = 0; i < kSharedBase; ++i) {
      sgpr_difference_[i] |= first_sgpr_[i] ^ step_.w.sgpr[i];
    }
    scc_difference_ |= first_scc_ != step_.w.scc;
  }

  const UninitStep& step_;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> saved_, first_, difference_;
  uint32_t saved_sgpr_[kSgprs], first_sgpr_[kSgprs], sgpr_difference_[kSgprs] = {};
  bool saved_scc_ = false, first_scc_ = false, scc_difference_ = false;
};

/// Whether a source has undefined bits that the instruction may see, and their origin.
struct Source {
  bool undefined = false;
  Origin origin = 0;
};

Source undefined_source(const UninitStep& step) {
  WaveShadow& s = step.shadow;
  const uint64_t lanes = step.u.cross_lane ? ~uint64_t{0} : step.w.exec();
  const auto look = [&](const Operand& o) -> Source {
    for (int k = 0; k < o.words; ++k) {
      if (is_scalar(o)) {
        const auto index = static_cast<size_t>(o.index + k);
        if (s.sgpr[index] == 0) continue;
        return {true, step.origin_or_new(s.sgpr_origin[index], register_name(o, k))};
      }
      if (!is_vector(o)) break;
      const uint32_t row = s.row(o, k);
      const uint64_t undefined = s.lanes(row) & lanes;
      if (undefined == 0) continue;
      const std::string what =
          fmt::format("{} of lane {}", register_name(o, k), __builtin_ctzll(undefined));
      return {true, step.origin_or_new(s.origin(row), what)};
    }
    return {};
  };
  for (const Operand& o : step.u.registers.reads) {
    if (is_vector(o) && step.w.gpr_index_mode) continue;
    if (const Source found = look(o); found.undefined) return found;
  }
  for (const Operand& o : step.in.src) {
    if (const Source found = look(o); found.undefined) return found;
  }
  if (step.u.registers.reads_scc && s.scc) return {true, step.origin_or_new(s.scc_origin, "SCC")};
  return {};
}

/// Without undefined sources the results are known, but for what an instruction leaves as it was.
/// Returns whether that has undefined bits.
bool define_results(const UninitStep& step) {
  WaveShadow& s = step.shadow;
  const uint64_t exec = step.w.exec();
  const uint64_t lanes = step.u.cross_lane ? ~uint64_t{0} : exec;
  bool left = false;
  const auto look = [&](const Operand& o) {
    if (is_scalar(o)) step.define(o, 0);
    if (!is_vector(o)) return;
    if (step.u.whole_result) return step.define(o, exec);
    for (int k = 0; k < o.words; ++k) left |= (s.lanes(s.row(o, k)) & lanes) != 0;
  };
  for (const Operand& o : step.u.registers.writes) {
    if (!is_vector(o) || !step.w.gpr_index_mode) look(o);
  }
  if (step.w.gpr_index_mode) look(step.in.dst);
  if (step.u.registers.writes_scc) s.scc = false;
  return left;
}

/// Lanes in which a comparison sees an undefined bit.
uint64_t undecided_lanes(const UninitStep& step) {
  const uint64_t exec = step.w.exec();
  uint64_t lanes = 0;
  for (int k = 0; k < 3; ++k) {
    const Operand& o = step.in.src[k];
    const bool half = o.type == Type::f16 || o.type == Type::b16 || o.type == Type::bf16;
    const uint32_t mask = !half ? ~0u : (step.in.op_sel >> k) & 1 ? 0xffff0000 : 0xffff;
    for (int word = 0; word < o.words; ++word) {
      if (is_scalar(o) && (step.shadow.sgpr[static_cast<size_t>(o.index + word)] & mask)) {
        lanes |= exec;
      }
      if (!is_vector(o)) continue;
      const uint32_t row = step.shadow.row(o, word);
      for (uint64_t left = step.shadow.lanes(row) & exec; left != 0; left &= left - 1) {
        const int lane = __builtin_ctzll(left);
        if (step.shadow.bits(row)[lane] & mask) lanes |= uint64_t{1} << lane;
      }
    }
  }
  return lanes;
}

void leave_undecided(const UninitStep& step, uint64_t lanes, Origin origin) {
  if (lanes == 0) return;
  WaveShadow& s = step.shadow;
  if (step.u.registers.writes_scc) {
    s.scc = true;
    s.scc_origin = origin;
  }
  for (const Operand& o : step.u.registers.writes) {
    if (!is_scalar(o) || o.words != 2) continue;
    for (size_t k = 0; k < 2; ++k) {
      s.sgpr[o.index + k] |= static_cast<uint32_t>(lanes >> (32 * k));
      s.sgpr_origin[o.index + k] = origin;
    }
  }
}

/// EXEC decides which lanes go on.
void check_exec(const UninitStep& step) {
  WaveShadow& s = step.shadow;
  const uint64_t unknown = s.sgpr[kExec] | uint64_t{s.sgpr[kExec + 1]} << 32;
  if (unknown == 0) return;
  step.report(__builtin_ctzll(unknown), "the condition that EXEC is set from",
              s.sgpr_origin[s.sgpr[kExec] ? kExec : kExec + 1]);
  s.sgpr[kExec] = s.sgpr[kExec + 1] = 0;
}

}  // namespace

void uninit_compute(const UninitStep& step) {
  const Source source = undefined_source(step);
  if (!source.undefined && !define_results(step)) return;
  const uint64_t undecided = step.u.compare && !(step.in.flags & kSdwa) ? undecided_lanes(step) : 0;
  Trials trials(step);
  trials.run();
  trials.apply(source.origin);
  leave_undecided(step, undecided, source.origin);
  check_exec(step);
}

}  // namespace baton::emulator
