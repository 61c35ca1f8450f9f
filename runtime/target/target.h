// What the passes, the verifiers, the emulator and the loader know of a chip: one row a chip and
// one row an MFMA shape. Facts only; what they mean for an instruction stands with the reader.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace baton {

/// How far a memory operation must be visible. The order is the order of reach; `wave` is a plain
/// access, which need not be seen by, nor see, what other waves do during the launch.
enum class Scope : uint8_t { wave, workgroup, device, system };

std::string_view name(Scope scope);

/// The `aux` operand of a raw buffer intrinsic.
struct CachePolicy {
  static constexpr uint32_t sc0 = 1;   ///< gfx90a: glc
  static constexpr uint32_t nt = 2;    ///< gfx90a: slc
  static constexpr uint32_t sc1 = 16;  ///< gfx90a: scc
};

/// A bf16 MFMA of 16 x 16 x k: a lane of the A and B operands holds `k_lane` consecutive k.
struct MfmaShape {
  std::string_view mnemonic;  ///< as LLVM prints it
  int m, n, k;
  int k_lane;  ///< k / (64 / 16)
};

struct Target {
  std::string_view chip;      ///< "gfx950"
  std::string_view products;  ///< "MI350X, MI355X"
  uint32_t elf_mach;          ///< EF_AMDGPU_MACH of a code object's e_flags
  int wave_lanes;
  int simds_per_cu;
  int max_waves_per_simd;
  int vgprs_per_simd_lane;  ///< unified VGPR + AGPR file: registers a lane of one SIMD
  int vgpr_granule;         ///< registers are allocated in multiples of this
  int max_vgprs_per_wave;   ///< VGPRs plus AGPRs
  int sgprs_per_wave;
  int lds_bytes;  ///< a workgroup, and a CU
  int lds_granule_bytes;
  int cus;  ///< of the smallest product of this chip
  MfmaShape bf16_mfma;
  bool has_permlane_swap;     ///< v_permlane16_swap, v_permlane32_swap
  bool has_mx_mfma;           ///< 16x16x128 f8f6f4 with E8M0 scales
  bool has_bf16_conversions;  ///< v_cvt_pk_bf16_f32
  uint32_t load_policy[4];    ///< aux bits of a load, by Scope
  uint32_t store_policy[4];   ///< aux bits of a store, by Scope
  uint32_t streaming_policy;  ///< or'd in for data that is read once

  uint32_t load_aux(Scope scope) const { return load_policy[static_cast<int>(scope)]; }
  uint32_t store_aux(Scope scope) const { return store_policy[static_cast<int>(scope)]; }
};

/// Every chip that Baton knows, newest first.
std::span<const Target> all_targets();

/// The row of `chip`, or null.
const Target* lookup_target(std::string_view chip);

/// The row of `chip`; throws Error (user) that lists the chips.
const Target& find_target(std::string_view chip);

}  // namespace baton
