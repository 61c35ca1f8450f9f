// A 64-bit hash with multiplications and divisions, in place.
#include "prelude.h"

KERNEL hash(GLOBAL u64* p) {
  u64 x = p[gid * 256 + lid];
  for (int i = 0; i < 3; i++) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ul;
    x ^= x >> 27;
    x = x * 0x94d049bb133111ebul + (x % 1000003) / 7;
  }
  p[gid * 256 + lid] = x;
}
