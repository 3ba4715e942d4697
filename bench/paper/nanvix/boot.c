/* From the reset of a cluster to its first thread: what the counter of cycles has at the program's
 * first instruction. It is built with `-Wl,--entry=begin`, to look before the library does.
 *
 * prints comma-separated values: cycles. */
#include <stdint.h>
#include <stdio.h>

uint64_t begin_cycles;

__attribute__((naked)) void begin(void) {
  __asm__ volatile("rdcycle t0\n\t"
                   "la t1, begin_cycles\n\t"
                   "sd t0, (t1)\n\t"
                   "tail _start");
}

int main(void) { printf("cycles\n%llu\n", (unsigned long long)begin_cycles); }
