#include "runtime/emulator/report.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/emulator/dispatch.h"

namespace baton::emulator {
namespace {

// What the hardware gives within an ulp or so, and the emulator correctly rounded.
constexpr std::string_view kApproximate[] = {
    "v_exp_f32",        "v_exp_f16", "v_exp_legacy_f32", "v_log_f32",  "v_log_f16",
    "v_log_legacy_f32", "v_rcp_f32", "v_rcp_f16",        "v_rcp_f64",  "v_rcp_iflag_f32",
    "v_rsq_f32",        "v_rsq_f16", "v_rsq_f64",        "v_sqrt_f32", "v_sqrt_f16",
    "v_sqrt_f64",       "v_sin_f32", "v_sin_f16",        "v_cos_f32",  "v_cos_f16",
};

bool is_approximate(std::string_view name) {
  for (std::string_view known : kApproximate) {
    if (name == known) return true;
  }
  return false;
}

std::string_view mfma_words(std::string_view chip, MfmaRule rule) {
  if (rule == MfmaRule::chain) return "a plain fp32 chain in k order";
  if (chip == "gfx950") return "the published CDNA3 rule extended to gfx950 (extrapolated)";
  if (chip == "gfx942") return "the published CDNA3 rule";
  return "the published CDNA2 rule";
}

}  // namespace

std::string_view name(OpClass op_class) {
  constexpr std::string_view kNames[] = {"salu",      "valu",       "mfma",   "smem",
                                         "vmem_load", "vmem_store", "atomic", "lds",
                                         "branch",    "sync",       "other"};
  return kNames[static_cast<int>(op_class)];
}

namespace {

/// Adds what executions of one static instruction did.
void count(const Program& program, size_t index, uint64_t hits, const Traffic& traffic,
           Counters& c) {
  const OpRow* row = program.info(index).row;
  if (!row) return;
  const Instruction& in = program.code()[index];
  const std::string_view mnemonic = row->name;
  c.steps += hits;
  c.by_class[static_cast<size_t>(row->op_class)] += hits;
  c.parks += traffic.parks;
  if (row->op_class == OpClass::mfma) c.mfmas += hits;
  if (mnemonic == "s_barrier") c.barriers += hits;
  if (mnemonic == "s_sleep") c.sleeps += hits;
  if (row->op_class == OpClass::lds) {
    c.lds_bytes += traffic.bytes;
    c.lds_bank_conflicts += traffic.bank_conflicts;
    return;
  }
  const bool store = row->op_class == OpClass::vmem_store || row->op_class == OpClass::atomic ||
                     (row->op_class == OpClass::smem && row->results == 0);
  const int scope = (in.flags & kSc1) ? ((in.flags & kSc0) ? 2 : 1) : 0;
  c.bytes[store][scope] += traffic.bytes;
  c.remote_bytes[store] += traffic.remote_bytes;
}

}  // namespace

Counters KernelReport::total() const {
  Counters sum;
  for (const StageReport& stage : stages) sum.add(stage.counters);
  return sum;
}

LaunchLog::LaunchLog(std::string chip, MfmaRule mfma, int devices) {
  blank_.chip = std::move(chip);
  blank_.mfma = mfma;
  const auto size = static_cast<size_t>(devices);
  blank_.stored_bytes.assign(size, std::vector<uint64_t>(size));
}

void LaunchLog::add(const Dispatch& dispatch) {
  const KernelCode& code = *dispatch.code;
  auto entry = std::ranges::find_if(entries_, [&](const Entry& e) {
    return e.program == code.program && e.kernel == code.kernel.name;
  });
  if (entry == entries_.end()) {
    entries_.push_back({code.program, code.kernel.name, 0, Tally(code.program->size())});
    entry = std::prev(entries_.end());
  }
  ++blank_.launches;
  ++entry->launches;
  auto& stored = blank_.stored_bytes[static_cast<size_t>(dispatch.device)];
  for (const Tally& tally : dispatch.tallies) {
    entry->tally.add(tally);
    for (size_t to = 0; to < stored.size(); ++to) stored[to] += tally.stored[to];
  }
}

RunReport LaunchLog::report() const {
  RunReport report = blank_;
  for (const Entry& entry : entries_) {
    const Program& program = *entry.program;
    KernelReport& kernel = report.kernels.emplace_back();
    kernel.kernel = entry.kernel;
    kernel.launches = entry.launches;
    std::vector<size_t> place(program.stages().size(), SIZE_MAX);  // in kernel.stages
    for (size_t i = 0; i < program.size(); ++i) {
      const uint64_t hits = entry.tally.hits[i];
      const OpRow* row = program.info(i).row;
      if (hits == 0 || !row) continue;
      report.instructions[row->name] += hits;
      report.classes[std::string(name(row->op_class))] += hits;
      size_t& at = place[program.stage_of(i)];
      if (at == SIZE_MAX) {
        at = kernel.stages.size();
        kernel.stages.push_back({program.stages()[program.stage_of(i)], {}});
      }
      count(program, i, hits, entry.tally.traffic[i], kernel.stages[at].counters);
    }
    report.counters.add(kernel.total());
  }
  return report;
}

std::string RunReport::fidelity() const {
  uint64_t exact = 0;
  std::string approximate;
  for (const auto& [mnemonic, count] : instructions) {
    if (is_approximate(mnemonic)) {
      approximate += fmt::format("{}{} ({})", approximate.empty() ? "" : ", ", mnemonic, count);
    } else {
      exact += count;
    }
  }
  std::string text = fmt::format("{} instructions exact", exact);
  if (!approximate.empty()) {
    text += "; correctly rounded where hardware is approximate: " + approximate;
  }
  if (const auto mfma_count = classes.find("mfma"); mfma_count != classes.end()) {
    text += fmt::format("; {} MFMAs by {}", mfma_count->second, mfma_words(chip, mfma));
  }
  return text;
}

}  // namespace baton::emulator
