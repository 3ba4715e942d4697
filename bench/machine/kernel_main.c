/* A kernel of bench/engine as a bare program in M mode, for machines with HTIF: `flick machine
 * run`, Spike, QEMU's machine `spike`. It runs the KERNEL RUNS times, and prints the checksum and
 * the instructions (which QEMU does not count). */
#include "../engine/kernel.h"
#include "../engine/list.h"

/* Written and read by the machine. */
volatile uint64_t tohost __attribute__((section(".tohost"), aligned(64)));
volatile uint64_t fromhost __attribute__((section(".tohost"), aligned(64)));

static void put(char c) {
  while (tohost)
    fromhost = 0;
  tohost = 0x0101000000000000u | (unsigned char)c;
  while (tohost)
    fromhost = 0;
}

static void put_number(uint64_t value, char end) {
  char digits[20];
  int at = 0;
  do
    digits[at++] = (char)('0' + value % 10);
  while (value /= 10);
  while (at)
    put(digits[--at]);
  put(end);
}

void *memset(void *to, int value, size_t size) {
  unsigned char *at = to;
  while (size--)
    *at++ = (unsigned char)value;
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  unsigned char *at = to;
  const unsigned char *source = from;
  while (size--)
    *at++ = *source++;
  return to;
}

static int same(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return *a == *b;
}

static uint64_t instructions(void) {
  uint64_t count;
  __asm__ volatile("csrr %0, minstret" : "=r"(count));
  return count;
}

__attribute__((used)) static void begin(void) {
  uint64_t checksum = 0, before = instructions();
  for (const kernel *k = kernels; k->name; k++)
    if (k->run && same(k->name, KERNEL))
      for (int n = 0; n < RUNS; n++)
        checksum = k->run(k->work);
  before = instructions() - before;
  put_number(checksum, ' ');
  put_number(before, '\n');
  tohost = 1;
  for (;;)
    ;
}

__asm__(".section .text.start,\"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        "  csrr t0, mhartid\n"
        "  bnez t0, 1f\n"
        "  li t0, 0x6000\n"
        "  csrs mstatus, t0\n"
        ".option push\n"
        ".option norelax\n"
        "  lla gp, __global_pointer$\n"
        ".option pop\n"
        "  la sp, stack_end\n"
        "  call begin\n"
        "1: wfi\n"
        "  j 1b\n");
