// The 64 bytes behind the symbol NAME.kd: how the hardware starts a kernel. Layout as in the AMDGPU
// back end's documentation, "Kernel Descriptor".
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace baton {

struct KernelDescriptor {
  uint32_t group_segment_fixed_size;    ///< LDS bytes a workgroup
  uint32_t private_segment_fixed_size;  ///< scratch bytes a lane
  uint32_t kernarg_size;
  uint8_t reserved0[4];
  int64_t kernel_code_entry_byte_offset;  ///< from the descriptor's own address
  uint8_t reserved1[20];
  uint32_t compute_pgm_rsrc3;
  uint32_t compute_pgm_rsrc1;
  uint32_t compute_pgm_rsrc2;
  uint16_t kernel_code_properties;
  uint16_t kernarg_preload;
  uint8_t reserved3[4];

  /// The first AGPR's place in the unified register file, on gfx90a and later gfx9 chips.
  int accum_offset() const { return static_cast<int>((compute_pgm_rsrc3 & 0x3f) + 1) * 4; }
  /// Unified registers a lane that are allocated: whole granules of 8.
  int allocated_vgprs() const { return static_cast<int>((compute_pgm_rsrc1 & 0x3f) + 1) * 8; }
};

static_assert(std::is_trivially_copyable_v<KernelDescriptor>);
static_assert(sizeof(KernelDescriptor) == 64);
static_assert(offsetof(KernelDescriptor, group_segment_fixed_size) == 0);
static_assert(offsetof(KernelDescriptor, private_segment_fixed_size) == 4);
static_assert(offsetof(KernelDescriptor, kernarg_size) == 8);
static_assert(offsetof(KernelDescriptor, reserved0) == 12);
static_assert(offsetof(KernelDescriptor, kernel_code_entry_byte_offset) == 16);
static_assert(offsetof(KernelDescriptor, reserved1) == 24);
static_assert(offsetof(KernelDescriptor, compute_pgm_rsrc3) == 44);
static_assert(offsetof(KernelDescriptor, compute_pgm_rsrc1) == 48);
static_assert(offsetof(KernelDescriptor, compute_pgm_rsrc2) == 52);
static_assert(offsetof(KernelDescriptor, kernel_code_properties) == 56);
static_assert(offsetof(KernelDescriptor, kernarg_preload) == 58);
static_assert(offsetof(KernelDescriptor, reserved3) == 60);

}  // namespace baton
