#include "runtime/emulator/report.h"

#include <array>

#include "runtime/base/error.h"

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

void RunReport::add(const Program& program, const std::vector<uint64_t>& hits) {
  for (size_t i = 0; i < hits.size(); ++i) {
    const OpRow* row = program.info(i).row;
    if (hits[i] == 0 || !row) continue;
    instructions[row->name] += hits[i];
    classes[std::string(name(row->op_class))] += hits[i];
  }
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
