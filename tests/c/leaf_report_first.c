// A leaf faults in the first call of the thread. The report names it.
// EXIT: signal SEGV
// ERR: [FLK0501] SIGSEGV in NxP code: access to 0x8 at 0x
// ERR: in second+0x
// ERR: leaf_report_first.c:14)
// ERR: called by the host through the gate of second
// CFLAGS: -gdwarf-4
// SKIP-RANDOM: the calls are another's
#include <flick.h>
#include <stdio.h>

#define SEPARATE __attribute__((noinline))

FLICK_NXP SEPARATE static long second(const long *p) { return p[1]; }

int main(void) { printf("never: %ld\n", second(NULL)); }
