// Flat pointers to LDS, private and global memory.
#include "prelude.h"

__attribute__((noinline)) static void add(u32* p, u32 v) { *p += v; }
KERNEL flat(GLOBAL u32* out) {
  LDS static u32 shared[256];
  u32 mine[4] = {1, 2, 3, 4};
  shared[lid] = lid;
  barrier();
  add((u32*)&shared[lid], 5);
  add(&mine[lid & 3], 7);
  add((u32*)(out + lid), shared[lid] * 100 + mine[lid & 3]);
}
