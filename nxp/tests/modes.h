/* Rounding modes and exception flags, with or without a C library. */
#ifndef NXP_TESTS_MODES_H
#define NXP_TESTS_MODES_H

/* 0 nearest, 1 toward zero, 2 down, 3 up, numbered as RV64 does. */
static inline void set_rounding(unsigned mode) {
#ifdef __riscv
  __asm__ volatile("fsrm %0" : : "r"((unsigned long)mode) : "memory");
#else
  static const unsigned rc[] = {0, 3, 1, 2};
  unsigned csr;
  __asm__ volatile("stmxcsr %0" : "=m"(csr));
  csr = (csr & ~0x6000u) | rc[mode] << 13;
  __asm__ volatile("ldmxcsr %0" : : "m"(csr) : "memory");
#endif
}

static inline void clear_flags(void) {
#ifdef __riscv
  __asm__ volatile("fsflags zero" : : : "memory");
#else
  unsigned csr;
  __asm__ volatile("stmxcsr %0" : "=m"(csr));
  csr &= ~0x3fu;
  __asm__ volatile("ldmxcsr %0" : : "m"(csr) : "memory");
#endif
}

/* 1 inexact, 2 underflow, 4 overflow, 8 division by zero, 16 invalid, as RV64 has them. */
static inline unsigned raised_flags(void) {
#ifdef __riscv
  unsigned long flags;
  __asm__ volatile("frflags %0" : "=r"(flags) : : "memory");
  return (unsigned)flags;
#else
  unsigned csr;
  __asm__ volatile("stmxcsr %0" : "=m"(csr) : : "memory");
  return (csr >> 5 & 1) | (csr >> 4 & 1) << 1 | (csr >> 3 & 1) << 2 | (csr >> 2 & 1) << 3 |
         (csr & 1) << 4;
#endif
}

#endif
