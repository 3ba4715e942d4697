/* Just enough to print and to exit, with or without a C library. */
#ifndef NXP_TESTS_BARE_H
#define NXP_TESTS_BARE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __riscv
static long syscall3(long number, long a, long b, long c) {
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  register long a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
static void print(const char *text, size_t n) { syscall3(64, 1, (long)text, (long)n); }
int main(void);
void _start(void);
void _start(void) {
  syscall3(93, main(), 0, 0);
  __builtin_trap();
}
#else
#include <unistd.h>
static void print(const char *text, size_t n) {
  if (write(1, text, n) != (ssize_t)n)
    _exit(1);
}
#endif

/* Same sequence everywhere: SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t random_state = 1;
static inline uint64_t random64(void) {
  uint64_t z = random_state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

#endif
