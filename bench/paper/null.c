/* Table III of the Flick paper (ISCA 2020), section V.A: the cost of a call that does nothing, from
 * the host to the NxP and back, and from the NxP to the host and back. The second is measured as in
 * the paper: a call to the NxP whose function calls the host, less the call to the NxP.
 *
 *   null [CALLS]
 *
 * prints comma-separated values: microseconds of virtual time per call. */
#define _GNU_SOURCE
#include "measure.h"

#define CALLS 10000

/* The empty statement keeps the optimiser from removing calls of an empty function, and from making
 * a jump of the last call of another. */
#define NULL_BODY __asm__ volatile("")

FLICK_HOST __attribute__((noinline)) void null_on_host(void) { NULL_BODY; }
FLICK_NXP __attribute__((noinline)) void null_on_nxp(void) { NULL_BODY; }
FLICK_NXP __attribute__((noinline)) void to_host(void) {
  null_on_host();
  NULL_BODY;
}

int main(int argc, char **argv) {
  uint64_t calls = argc > 1 ? number("CALLS", argv[1], 1, UINT32_MAX) : CALLS;

  prediction begin = now();
  for (uint64_t call = 0; call < calls; call++)
    null_on_nxp();
  prediction outer = since(begin);

  begin = now();
  for (uint64_t call = 0; call < calls; call++)
    to_host();
  prediction both = since(begin);

  printf("call,calls,migrating_us,staying_us\n");
  printf("host-nxp-host,%llu,%.6f,%.6f\n", (unsigned long long)calls,
         each_us(outer.migrating_ps, calls), each_us(outer.staying_ps, calls));
  printf("nxp-host-nxp,%llu,%.6f,%.6f\n", (unsigned long long)calls,
         each_us(both.migrating_ps, calls) - each_us(outer.migrating_ps, calls),
         each_us(both.staying_ps, calls) - each_us(outer.staying_ps, calls));
}
