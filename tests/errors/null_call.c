// A call through NULL in NxP code: the native signal, and a report that names the caller.
// FAILS: run FLK0501
// EXIT: signal SEGV
// SAYS: SIGSEGV
// SAYS: call of 0x0
// SAYS: apply+0x
#include <flick.h>

FLICK_NXP int apply(int (*f)(int), int x) { return f(x) + 1; /* HERE */ }

int main(void) { return apply(0, 7); }
