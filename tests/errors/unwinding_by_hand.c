// A placed function that takes unwinding into its own hands.
// FAILS: compile FLK0211
// SAYS: the intrinsic 'llvm.eh.unwind.init' in 'prepare'
#include <flick.h>

FLICK_NXP void prepare(void) { __builtin_unwind_init(); /* HERE */ }
