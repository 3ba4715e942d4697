// NxP code calls a function of a library, by an entry of the linkage table of its module. The
// instructions of the entry count, whatever engine executes them. With LIBRARY it is the library.
#include <flick.h>

FLICK_NXP long leaf(long x);

#ifdef LIBRARY
FLICK_NXP __attribute__((noinline)) long leaf(long x) {
  __asm__ volatile("");
  return x + 1;
}
#else
FLICK_NXP __attribute__((noinline)) static long tail(long x) { return leaf(x + 1); }

FLICK_NXP __attribute__((noinline)) static long sum(long n) {
  long all = 0;
  for (long i = 0; i < n; i++)
    all += leaf(i) + tail(i);
  return all;
}

int main(void) {
  long all = 0;
  for (int n = 0; n < 300; n++)
    all += sum(1000);
  return all != 300600000;
}
#endif
