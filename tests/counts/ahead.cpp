// Exceptions, longjmp, deep recursion and callbacks in code that the link has translated.
#include <csetjmp>
#include <cstdio>
#include <flick.h>
#include <stdexcept>

FLICK_NXP __attribute__((noinline)) int throws(int i) {
  if (i % 3 == 0)
    throw std::runtime_error("third");
  return i;
}
FLICK_NXP __attribute__((noinline)) int catches(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    try {
      sum += throws(i);
    } catch (std::exception &) {
      sum += 100;
    }
  }
  return sum;
}

static jmp_buf back;
FLICK_NXP __attribute__((noinline)) void leaves(int depth) {
  if (depth == 0)
    longjmp(back, 1);
  leaves(depth - 1);
}
FLICK_NXP __attribute__((noinline)) int jumps(int n) {
  volatile int count = 0;
  for (volatile int i = 0; i < n; i++) {
    if (setjmp(back) == 0)
      leaves(5);
    else
      count = count + 1;
  }
  return count;
}

FLICK_NXP __attribute__((noinline)) long deep(long n) {
  volatile long own = n;
  return n == 0 ? 0 : deep(n - 1) + own - n + 1;
}

FLICK_HOST __attribute__((noinline)) int host(int i) { return i + 1; }
FLICK_NXP __attribute__((noinline)) int storm(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum ^= host(i);
  return sum;
}

int main() {
  std::printf("%d %d %ld %d\n", catches(1000), jumps(1000), deep(100000), storm(20000));
}
