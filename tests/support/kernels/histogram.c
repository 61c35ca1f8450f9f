// bins[v] += the number of v in in, v below 64; 3 workgroups.
#include "prelude.h"

KERNEL histogram(const GLOBAL u32* in, GLOBAL u32* bins, u32 n) {
  LDS static u32 local[64];
  if (lid < 64) local[lid] = 0;
  barrier();
  for (u32 i = gid * 256 + lid; i < n; i += 3 * 256)
    __scoped_atomic_fetch_add(&local[in[i] & 63], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  barrier();
  if (lid < 64)
    __scoped_atomic_fetch_add(bins + lid, local[lid], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
