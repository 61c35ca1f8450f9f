// Calls through a pointer, and recursion on the private stack.
#include "prelude.h"

__attribute__((noinline)) static u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static u32 twice(u32 n) { return 2 * n; }
typedef u32 (*fn)(u32);
KERNEL calls(GLOBAL u32* p, u32 which) {
  fn f = which ? twice : fib;
  p[lid] = f(lid % 9) + fib(3);
}
