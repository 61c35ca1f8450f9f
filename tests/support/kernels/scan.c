// Running sums within 256 words each.
#include "prelude.h"

KERNEL scan(const GLOBAL u32* in, GLOBAL u32* out) {
  LDS static u32 t[2][256];
  u32 p = 0;
  t[0][lid] = in[gid * 256 + lid];
  barrier();
  for (u32 s = 1; s < 256; s *= 2) {
    u32 v = t[p][lid] + (lid >= s ? t[p][lid - s] : 0);
    p ^= 1;
    t[p][lid] = v;
    barrier();
  }
  out[gid * 256 + lid] = t[p][lid];
}
