// What bench/emulator_speed.cpp runs: matrix products C = A B^T of kSize squared, A and B by rows,
// C fp32, a 64 x 64 tile a workgroup of four waves, operands from global memory; and two loops for
// the rate of one instruction.
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL(lanes) __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(lanes, lanes)))

enum { kSize = 1024, kTile = 64, kSide = 16 };

static f32x4 mfma_bf16(bf16x8 a, bf16x8 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
}
static f32x4 mfma_fp8(long a, long b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, c, 0, 0, 0);
}
static f32x4 mfma_f8f6f4(i32x8 a, i32x8 b, f32x4 c) {
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 0, 0, 0, 0, 0, 0);
}

// A wave makes two by two blocks of 16 x 16. A lane holds `fragment` of row lane % 16, its k slice
// lane / 16.
#define GEMM(name, fragment, multiply, element_bytes)                                          \
  KERNEL(256) void name(const GLOBAL char* a, const GLOBAL char* b, GLOBAL float* c) {         \
    const int lane = __builtin_amdgcn_workitem_id_x() % 64;                                    \
    const int wave = __builtin_amdgcn_workitem_id_x() / 64;                                    \
    const int row = __builtin_amdgcn_workgroup_id_y() * kTile + wave / 2 * 32;                 \
    const int column = __builtin_amdgcn_workgroup_id_x() * kTile + wave % 2 * 32;              \
    const int pitch = kSize * element_bytes, size = sizeof(fragment), step = size * 4;         \
    const int at = lane % kSide * pitch + lane / kSide * size;                                 \
    a += row * pitch + at;                                                                     \
    b += column * pitch + at;                                                                  \
    f32x4 sum[2][2] = {};                                                                      \
    for (int k = 0; k < pitch; k += step) {                                                    \
      fragment x[2], y[2];                                                                     \
      for (int i = 0; i < 2; ++i) x[i] = *(const GLOBAL fragment*)(a + i * kSide * pitch + k); \
      for (int i = 0; i < 2; ++i) y[i] = *(const GLOBAL fragment*)(b + i * kSide * pitch + k); \
      for (int i = 0; i < 2; ++i)                                                              \
        for (int j = 0; j < 2; ++j) sum[i][j] = multiply(x[i], y[j], sum[i][j]);               \
    }                                                                                          \
    for (int i = 0; i < 2; ++i)                                                                \
      for (int j = 0; j < 2; ++j)                                                              \
        for (int e = 0; e < 4; ++e)                                                            \
          c[(row + kSide * i + lane / kSide * 4 + e) * kSize + column + kSide * j +            \
            lane % kSide] = sum[i][j][e];                                                      \
  }

GEMM(gemm_bf16, bf16x8, mfma_bf16, 2)
GEMM(gemm_fp8, long, mfma_fp8, 1)
GEMM(gemm_f8f6f4, i32x8, mfma_f8f6f4, 1)

// 16 MFMAs a turn, on operands in registers.
KERNEL(64) void mfma_rate(const GLOBAL bf16x8* operands, GLOBAL f32x4* c, int turns) {
  const int lane = __builtin_amdgcn_workitem_id_x();
  const bf16x8 a = operands[lane], b = operands[64 + lane];
  f32x4 sum[4] = {};
  for (int n = 0; n < turns; ++n) {
    for (int i = 0; i < 16; ++i) sum[i % 4] = mfma_bf16(a, b, sum[i % 4]);
  }
  for (int i = 0; i < 4; ++i) c[64 * i + lane] = sum[i];
}

// 32 v_fma_f32 a turn.
KERNEL(64) void fma_rate(const GLOBAL float* x, GLOBAL float* y, int turns) {
  const int lane = __builtin_amdgcn_workitem_id_x();
  const float factor = x[lane], addend = x[64 + lane];
  float value[8];
  for (int i = 0; i < 8; ++i) value[i] = x[lane] * i;
  for (int n = 0; n < turns; ++n) {
    for (int i = 0; i < 32; ++i) {
      __asm__ volatile("v_fma_f32 %0, %0, %1, %2" : "+v"(value[i % 8]) : "v"(factor), "v"(addend));
    }
  }
  for (int i = 0; i < 8; ++i) y[64 * i + lane] = value[i];
}

// A launch that does next to nothing, with the registers and LDS of a persistent kernel.
static __attribute__((address_space(3), loader_uninitialized)) int lds[8192];
KERNEL(512) void nothing(GLOBAL int* x) {
  lds[__builtin_amdgcn_workitem_id_x()] = x[0];
  __builtin_amdgcn_s_barrier();
  if (lds[1] == 1) x[1] = 2;
  __asm__ volatile("v_mov_b32 v127, 0" ::: "v127");
}
