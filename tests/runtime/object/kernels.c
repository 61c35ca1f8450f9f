// The reader's test kernels: a code object with two kernels, LDS, a relocation and initialised
// data.
#define KERNEL __attribute__((amdgpu_kernel, visibility("default")))
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

__attribute__((visibility("default"))) GLOBAL int counter;
__attribute__((visibility("default"))) GLOBAL int* GLOBAL counter_address = &counter;
__attribute__((loader_uninitialized)) static LDS float tile[256];

KERNEL void scale(GLOBAL float* x, float factor, int n) {
  const int i = __builtin_amdgcn_workitem_id_x() + 256 * __builtin_amdgcn_workgroup_id_x();
  if (i < n) x[i] *= factor;
}

KERNEL __attribute__((amdgpu_flat_work_group_size(256, 256))) void reverse(GLOBAL float* x,
                                                                           long first) {
  const int lane = __builtin_amdgcn_workitem_id_x();
  tile[lane] = x[first + lane];
  __builtin_amdgcn_s_barrier();
  x[first + lane] = tile[255 - lane] + *counter_address;
}
