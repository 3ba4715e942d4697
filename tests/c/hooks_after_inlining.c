// -finstrument-functions-after-inlining: what is not inlined calls its hooks, on either side, with
// the function's one address. What is inlined may differ by side, so nothing is here.
// CFLAGS: -finstrument-functions-after-inlining
// SKIP-GCC: gcc has no such option
#define KEEP __attribute__((noinline))
#include "hooks_instrumented.c"
