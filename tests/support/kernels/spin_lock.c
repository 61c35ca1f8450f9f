// Every wave of every workgroup adds its number + 1 five times; not atomic between load and store:
// only the lock keeps the sum whole.
#include "prelude.h"

KERNEL spin_lock(GLOBAL u32* lock, volatile GLOBAL u32* sum) {
  if (lid % 64 != 0) return;
  for (u32 i = 0; i < 5; i++) {
    u32 expected;
    do {
      expected = 0;
    } while (!__scoped_atomic_compare_exchange_n(lock, &expected, 1, 0, __ATOMIC_ACQUIRE,
                                                 __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
    u32 v = *sum;
    *sum = v + gid + 1;
    __scoped_atomic_store_n(lock, 0, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
  }
}
