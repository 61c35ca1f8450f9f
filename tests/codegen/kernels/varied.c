// One kernel with instructions of every family, for the round trip through the listing.
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef short s16x4 __attribute__((ext_vector_type(4)));
typedef unsigned u32x4 __attribute__((ext_vector_type(4)));
#define GLOBAL __attribute__((address_space(1)))

__attribute__((address_space(3), loader_uninitialized)) static float tile[512];

static float butterfly(float value) {
  value += __builtin_bit_cast(
      float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, value), 0x128, 0xf, 0xf, 0));
  value += __builtin_bit_cast(
      float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, value), 0x141, 0xf, 0xf, 0));
  value += __builtin_bit_cast(float,
                              __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, value), 0x401f));
  return value +
         __builtin_bit_cast(float, __builtin_amdgcn_readlane(__builtin_bit_cast(int, value), 63));
}

static float convert(GLOBAL _Float16* halves, GLOBAL double* doubles, int lane) {
  const double wide = doubles[lane] / 3.0 + (double)halves[lane];
  doubles[lane] = __builtin_elementwise_sqrt(wide);
  halves[lane] = (_Float16)wide * (_Float16)1.5f;
  return (float)wide;
}

static unsigned integers(GLOBAL unsigned* words, GLOBAL unsigned long* longs, int lane) {
  const unsigned word = words[lane];
  longs[lane] = longs[lane] * 0x9e3779b97f4a7c15ul + (longs[lane + 1] >> (word & 63));
  return __builtin_popcount(word) + __builtin_clz(word | 1) + (word * 2654435761u) / (word | 3) +
         ((word >> 8) & 0xff) + __builtin_bitreverse32(word);
}

static f32x4 matrix(GLOBAL s16x4* a, int lane) {
  f32x4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int i = 0; i < 4; ++i) {
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a[lane + 64 * i], a[lane + 256], sum, 0, 0, 0);
  }
  return sum;
}

__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256))) void varied(
    GLOBAL float* floats, GLOBAL _Float16* halves, GLOBAL double* doubles, GLOBAL unsigned* words,
    GLOBAL unsigned long* longs, GLOBAL s16x4* matrices, int mode) {
  const int lane = __builtin_amdgcn_workitem_id_x() + 256 * __builtin_amdgcn_workgroup_id_x();
  float value = floats[lane];
  tile[lane & 511] = value;
  __builtin_amdgcn_s_barrier();
  value += butterfly(tile[(lane ^ 3) & 511]);
  switch (mode) {
    case 0:
      value += convert(halves, doubles, lane);
      break;
    case 1:
      value += integers(words, longs, lane);
      break;
    case 2: {
      const f32x4 sum = matrix(matrices, lane);
      value += sum.x + sum.y * sum.z + sum.w;
      break;
    }
    default:
      while (__scoped_atomic_load_n(words, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM) == 0) {
        __builtin_amdgcn_s_sleep(2);
      }
      __scoped_atomic_fetch_add(words + 1, 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
      value += (float)__builtin_readcyclecounter() + __builtin_amdgcn_exp2f(value);
  }
  floats[lane] = value / (1.0f + __builtin_amdgcn_rcpf(value));
}
