// What the kernels of this folder share: plain C for clang, no header of HIP or OpenCL.
#pragma once

typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned short u16;
typedef _Float16 h16;
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3), loader_uninitialized))
#define KERNEL __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256))) void
#define gid __builtin_amdgcn_workgroup_id_x()
#define lid __builtin_amdgcn_workitem_id_x()
static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
