// -finstrument-functions: every function's hooks are called on either side, before and behind
// inlining, with the function's one address; a function that is both inline and on both sides has
// them, too.
// CFLAGS: -finstrument-functions
// CROSSINGS: host-to-nxp>=1
#include <flick.h>
#include <stdio.h>

#define NO __attribute__((no_instrument_function))
#ifndef KEEP
#define KEEP
#endif

static int depth, deepest, enters;
static void *last, *sites;
static void *known[8];
static volatile int worked; // no call is like another
static int counts[8], unknown;

NO FLICK_HOST static void note(void *function) {
  for (int i = 0; i < 8; ++i)
    if (known[i] == function) {
      ++counts[i];
      return;
    }
  ++unknown;
}
NO FLICK_HOST void __cyg_profile_func_enter(void *function, void *site) {
  ++enters;
  deepest = ++depth > deepest ? depth : deepest;
  last = function;
  sites = site;
  note(function);
}
NO FLICK_HOST void __cyg_profile_func_exit(void *function, void *site) {
  --depth;
  note(function);
  sites = site;
}

FLICK_NXP KEEP static int small(int x) { return x + 1 + worked++ % 2; }
KEEP static inline int both(int x) { return x * 2 + worked++ % 2; }
FLICK_NXP KEEP int on_nxp(int x) { return both(small(x)) + worked++ % 2; }
FLICK_HOST KEEP int on_host(int x) { return both(x) + on_nxp(x) + worked++ % 2; }
FLICK_NXP KEEP static int by_pointer(int x) { return x - 1 + worked++ % 2; }
FLICK_NXP NO KEEP int quiet(int x) { return on_host(x) + small(x); }

int main(void) {
  int (*pointer)(int) = by_pointer;
  known[0] = (void *)main;
  known[1] = (void *)on_nxp;
  known[2] = (void *)on_host;
  known[3] = (void *)by_pointer;
  known[4] = (void *)quiet;
  known[5] = (void *)small;
  known[6] = (void *)both;
  int sum = 0;
  for (int i = 0; i < 3; ++i)
    sum += on_nxp(i) + on_host(i) + pointer(i) + quiet(i);
  printf("%d %d\n", enters, deepest);
  for (int i = 0; i < 7; ++i)
    printf("%d ", counts[i]);
  printf("%d %d %d\n", unknown, sum, sites != 0);
  return 0;
}
