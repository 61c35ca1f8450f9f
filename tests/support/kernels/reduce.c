// The sum of n words, added up by 4 workgroups.
#include "prelude.h"

KERNEL reduce(const GLOBAL u32* in, GLOBAL u32* out, u32 n) {
  LDS static u32 part[256];
  u32 sum = 0;
  for (u32 i = gid * 256 + lid; i < n; i += 4 * 256) sum += in[i];
  part[lid] = sum;
  barrier();
  for (u32 s = 128; s > 0; s >>= 1) {
    if (lid < s) part[lid] += part[lid + s];
    barrier();
  }
  if (lid == 0) __scoped_atomic_fetch_add(out, part[0], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
