// A call of a variable's address in NxP code: its memory is not executable, as natively.
// FAILS: run FLK0501
// EXIT: signal SEGV
// SAYS: SIGSEGV
// SAYS: apply+0x
#include <flick.h>

static int data[16];

FLICK_NXP int apply(int (*f)(int), int x) { return f(x) + 1; /* HERE */ }

int main(void) { return apply((int (*)(int))(void *)data, 7); }
