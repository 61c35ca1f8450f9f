// out = in transposed, n x n words in tiles of 16 x 16; (n / 16)^2 workgroups.
#include "prelude.h"

KERNEL transpose(const GLOBAL u32* in, GLOBAL u32* out, u32 n) {
  LDS static u32 tile[16][17];
  u32 tiles = n / 16, bx = gid % tiles * 16, by = gid / tiles * 16, x = lid % 16, y = lid / 16;
  tile[y][x] = in[(by + y) * n + bx + x];
  barrier();
  out[(bx + y) * n + by + x] = tile[x][y];
}
