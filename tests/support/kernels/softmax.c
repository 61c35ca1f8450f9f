// Softmax of rows of 256, in place.
#include "prelude.h"

KERNEL softmax(GLOBAL float* p) {
  LDS static float t[256];
  float x = p[gid * 256 + lid];
  t[lid] = x;
  barrier();
  for (u32 s = 128; s; s >>= 1) {
    if (lid < s) t[lid] = __builtin_fmaxf(t[lid], t[lid + s]);
    barrier();
  }
  float e = __builtin_amdgcn_exp2f((x - t[0]) * 1.4426950408889634f);
  barrier();
  t[lid] = e;
  barrier();
  for (u32 s = 128; s; s >>= 1) {
    if (lid < s) t[lid] += t[lid + s];
    barrier();
  }
  p[gid * 256 + lid] = e / t[0];
}
