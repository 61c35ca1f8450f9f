// Sorts each 256 words, in place (bitonic).
#include "prelude.h"

KERNEL sort(GLOBAL u32* p) {
  LDS static u32 t[256];
  t[lid] = p[gid * 256 + lid];
  barrier();
  for (u32 size = 2; size <= 256; size *= 2)
    for (u32 step = size / 2; step; step /= 2) {
      u32 other = lid ^ step;
      if (other > lid) {
        u32 a = t[lid], b = t[other];
        if ((a > b) == !(lid & size)) {
          t[lid] = b;
          t[other] = a;
        }
      }
      barrier();
    }
  p[gid * 256 + lid] = t[lid];
}
