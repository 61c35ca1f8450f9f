#include "codegen/listing/instruction_class.h"

#include <array>

namespace baton {
namespace {

using enum InstructionClass;

struct Family {
  std::string_view prefix;
  InstructionClass kind;
};

// The first row that begins the mnemonic decides, so the special stands before the general.
constexpr Family kFamilies[] = {
    {"v_mfma_", mfma},
    {"v_smfmac_", mfma},
    {"v_permlane", cross_lane},
    {"v_readlane_", cross_lane},
    {"v_readfirstlane_", cross_lane},
    {"v_writelane_", cross_lane},
    {"v_nop", other},
    {"v_", valu},
    {"s_waitcnt", waitcnt},
    {"s_barrier", barrier},
    {"s_sleep", sleep},
    {"s_branch", branch},
    {"s_cbranch_", branch},
    {"s_setpc_", branch},
    {"s_swappc_", branch},
    {"s_call_", branch},
    {"s_load_", smem},
    {"s_store_", smem},
    {"s_buffer_", smem},
    {"s_scratch_", smem},
    {"s_atomic_", smem},
    {"s_memtime", smem},
    {"s_memrealtime", smem},
    {"s_dcache_", smem},
    {"s_nop", other},
    {"s_endpgm", other},
    {"s_setprio", other},
    {"s_set_gpr_idx_", other},
    {"s_sendmsg", other},
    {"s_trap", other},
    {"s_sethalt", other},
    {"s_icache_inv", other},
    {"s_ttracedata", other},
    {"s_", salu},
    {"buffer_load_", load},
    {"tbuffer_load_", load},
    {"global_load_", load},
    {"flat_load_", load},
    {"scratch_load_", load},
    {"buffer_store_", store},
    {"tbuffer_store_", store},
    {"global_store_", store},
    {"flat_store_", store},
    {"scratch_store_", store},
    {"buffer_atomic_", atomic},
    {"global_atomic_", atomic},
    {"flat_atomic_", atomic},
    {"ds_", lds},
};

}  // namespace

std::string_view name(InstructionClass kind) {
  constexpr std::array<std::string_view, kInstructionClasses> kNames = {
      "MFMA",   "VALU", "cross-lane", "SALU",   "SMEM",    "load",  "store",
      "atomic", "LDS",  "waitcnt",    "branch", "barrier", "sleep", "other"};
  return kNames[static_cast<size_t>(kind)];
}

InstructionClass classify(std::string_view mnemonic) {
  if (mnemonic.ends_with("_dpp")) return cross_lane;
  for (const Family& family : kFamilies) {
    if (mnemonic.starts_with(family.prefix)) return family.kind;
  }
  return other;
}

}  // namespace baton
