#include "runtime/target/target.h"

#include <array>

#include "runtime/base/error.h"

namespace baton {
namespace {

constexpr uint32_t sc0 = CachePolicy::sc0;
constexpr uint32_t nt = CachePolicy::nt;
constexpr uint32_t sc1 = CachePolicy::sc1;

// LDS, CUs and registers: the chips' ISA documents. Policies: the relaxed loads and stores of
// each scope, gfx942 and gfx950 as LLVM's AMDGPU memory model has them. On gfx90a glc is bit 0 and
// slc bit 1; stores carry the bits of loads, and what crosses GPUs lies in fine-grained memory.
constexpr std::array<Target, 3> kTargets = {{
    {.chip = "gfx950",
     .products = "MI350X, MI355X",
     .elf_mach = 0x04f,
     .wave_lanes = 64,
     .simds_per_cu = 4,
     .max_waves_per_simd = 8,
     .vgprs_per_simd_lane = 512,
     .vgpr_granule = 8,
     .max_vgprs_per_wave = 512,
     .sgprs_per_wave = 102,
     .lds_bytes = 160 * 1024,
     .lds_granule_bytes = 1280,
     .cus = 256,
     .bf16_mfma = {"v_mfma_f32_16x16x32_bf16", 16, 16, 32, 8},
     .has_permlane_swap = true,
     .has_mx_mfma = true,
     .has_bf16_conversions = true,
     .load_policy = {0, sc0, sc1, sc0 | sc1},
     .store_policy = {0, sc0, sc1, sc0 | sc1},
     .streaming_policy = nt},
    {.chip = "gfx942",
     .products = "MI300X, MI325X",
     .elf_mach = 0x04c,
     .wave_lanes = 64,
     .simds_per_cu = 4,
     .max_waves_per_simd = 8,
     .vgprs_per_simd_lane = 512,
     .vgpr_granule = 8,
     .max_vgprs_per_wave = 512,
     .sgprs_per_wave = 102,
     .lds_bytes = 64 * 1024,
     .lds_granule_bytes = 512,
     .cus = 304,
     .bf16_mfma = {"v_mfma_f32_16x16x16_bf16", 16, 16, 16, 4},
     .has_permlane_swap = false,
     .has_mx_mfma = false,
     .has_bf16_conversions = false,
     .load_policy = {0, sc0, sc1, sc0 | sc1},
     .store_policy = {0, sc0, sc1, sc0 | sc1},
     .streaming_policy = nt},
    {.chip = "gfx90a",
     .products = "MI210, MI250, MI250X",
     .elf_mach = 0x03f,
     .wave_lanes = 64,
     .simds_per_cu = 4,
     .max_waves_per_simd = 8,
     .vgprs_per_simd_lane = 512,
     .vgpr_granule = 8,
     .max_vgprs_per_wave = 512,
     .sgprs_per_wave = 102,
     .lds_bytes = 64 * 1024,
     .lds_granule_bytes = 512,
     .cus = 104,
     .bf16_mfma = {"v_mfma_f32_16x16x16bf16_1k", 16, 16, 16, 4},
     .has_permlane_swap = false,
     .has_mx_mfma = false,
     .has_bf16_conversions = false,
     .load_policy = {0, 0, sc0, sc0 | nt},
     .store_policy = {0, 0, sc0, sc0 | nt},
     .streaming_policy = nt},
}};

}  // namespace

std::string_view name(Scope scope) {
  constexpr std::string_view kNames[] = {"wave", "workgroup", "device", "system"};
  return kNames[static_cast<int>(scope)];
}

std::span<const Target> all_targets() { return kTargets; }

const Target* lookup_target(std::string_view chip) {
  for (const Target& target : kTargets) {
    if (target.chip == chip) return &target;
  }
  return nullptr;
}

const Target& find_target(std::string_view chip) {
  if (const Target* target = lookup_target(chip)) return *target;
  std::string known;
  for (const Target& target : kTargets) {
    known += fmt::format("{}{} ({})", known.empty() ? "" : "; ", target.chip, target.products);
  }
  throw Error(ErrorKind::user, fmt::format("unknown chip '{}'", chip), "known chips: " + known);
}

}  // namespace baton
