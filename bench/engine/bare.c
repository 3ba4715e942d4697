/* RV64 Linux without a C library, for emulators: three system calls, the start of a program, and
 * the memory functions that compilers call. */
#include "platform.h"

enum { SYS_WRITE = 64, SYS_EXIT = 93, SYS_CLOCK_GETTIME = 113, CLOCK_PROCESS_CPUTIME_ID = 2 };

int main(int argc, char **argv);

static long system_call(long number, long a, long b, long c) {
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  register long a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}

uint64_t now(void) {
  long t[2] = {0, 0};
  system_call(SYS_CLOCK_GETTIME, CLOCK_PROCESS_CPUTIME_ID, (long)t, 0);
  return (uint64_t)t[0] * 1000000000u + (uint64_t)t[1];
}

void put(const char *text, size_t length) { system_call(SYS_WRITE, 1, (long)text, (long)length); }

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

/* argc, and argv behind it, are where the stack pointer is. */
__attribute__((used)) static void begin(long *stack) {
  system_call(SYS_EXIT, main((int)stack[0], (char **)(stack + 1)), 0, 0);
}

__asm__(".globl _start\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n"
        "  lla gp, __global_pointer$\n"
        ".option pop\n"
        "  mv a0, sp\n"
        "  andi sp, sp, -16\n"
        "  call begin\n");
