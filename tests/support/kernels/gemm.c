// D = A B^T, 64 x 64 x 64, bf16; wave w makes rows 16 w. One workgroup.
#include "prelude.h"

typedef short s4 __attribute__((vector_size(8)));
typedef float f4 __attribute__((vector_size(16)));
KERNEL gemm(const GLOBAL u16* a, const GLOBAL u16* b, GLOBAL float* d) {
  u32 wave = lid / 64, lane = lid % 64, row = lane % 16, q = lane / 16;
  for (u32 col = 0; col < 4; col++) {
    f4 acc = {0, 0, 0, 0};
    for (u32 kk = 0; kk < 64; kk += 16) {
      s4 x = *(const GLOBAL s4*)(a + (wave * 16 + row) * 64 + kk + q * 4);
      s4 y = *(const GLOBAL s4*)(b + (col * 16 + row) * 64 + kk + q * 4);
      acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, acc, 0, 0, 0);
    }
    for (u32 i = 0; i < 4; i++) d[(wave * 16 + q * 4 + i) * 64 + col * 16 + row] = acc[i];
  }
}
