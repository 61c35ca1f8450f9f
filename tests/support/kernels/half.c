// Every fp16 code to fp32, and a near value back.
#include "prelude.h"

KERNEL half(GLOBAL float* up, GLOBAL u16* back) {
  u32 i = gid * 256 + lid;
  u16 bits = i;
  h16 x;
  __builtin_memcpy(&x, &bits, 2);
  up[i] = (float)x;
  x = (h16)(up[i] * 1.0009765625f);
  __builtin_memcpy(&bits, &x, 2);
  back[i] = bits;
}
