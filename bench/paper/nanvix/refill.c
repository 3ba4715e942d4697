/* What a kernel call leaves of a program's caches: cycles of a walk through 4 KiB of data, and of 4
 * KiB of straight code, right behind a call. Both caches have 8 KiB. The calls are those of
 * calls.c, and none.
 *
 *   refill
 *
 * prints comma-separated values: cycles of both, for each repetition. */
#include "threads.h"

enum { BYTES = 4096 };
static char data[BYTES] __attribute__((aligned(BYTES)));

static void walk(void) {
  for (int n = 0; n < BYTES; n += LINE)
    (void)*(volatile char *)(data + n);
}

__attribute__((naked, aligned(LINE))) static void run_through(void) {
  __asm__ volatile(
      ".option push\n\t.option norvc\n\t.rept 1023\n\tnop\n\t.endr\n\t.option pop\n\tret");
}

#define MEASURE(name, call)                                                                        \
  for (int n = 0; n < WARM_UPS + REPETITIONS; n++) {                                               \
    walk();                                                                                        \
    run_through();                                                                                 \
    call;                                                                                          \
    uint64_t begin = cycles();                                                                     \
    walk();                                                                                        \
    uint64_t walked = cycles();                                                                    \
    run_through();                                                                                 \
    uint64_t end = cycles();                                                                       \
    if (n >= WARM_UPS)                                                                             \
      printf("%s,%d,%llu,%llu\n", name, n - WARM_UPS,                                              \
             (unsigned long long)(walked - begin - empty),                                         \
             (unsigned long long)(end - walked - empty));                                          \
  }

int main(void) {
  stay();
  uint64_t empty = empty_cycles(), self = flick_thread_self();
  printf("call,repetition,data,code\n");
  MEASURE("none", (void)0)
  MEASURE("local", flick_thread_self())
  MEASURE("remote", flick_kernel_nothing())
  MEASURE("change", flick_thread_wakeup(self))
}
