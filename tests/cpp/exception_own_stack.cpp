// An exception over NxP frames on a stack that the program has made for itself (makecontext), while
// NxP code waits on the thread's own: when the stack is left nothing of it may count as active.
// OUT: caught 5 and 6
// OUT: back with 12
#include <cstdio>
#include <flick.h>
#include <ucontext.h>

static ucontext_t own, made;
static char stack[256 << 10];
static int caught[2];

FLICK_NXP static void throws(int n) {
  if (n > 0)
    throw n;
}
FLICK_HOST static void between(int n) { throws(n); }
FLICK_NXP static void deeper(int n) { between(n); }

FLICK_HOST static void on_made_stack() {
  try {
    throws(5);
  } catch (int n) {
    caught[0] = n;
  }
  try {
    deeper(6);
  } catch (int n) {
    caught[1] = n;
  }
}
FLICK_HOST static int switches() {
  if (getcontext(&made) != 0)
    return 0;
  made.uc_stack.ss_sp = stack;
  made.uc_stack.ss_size = sizeof stack;
  made.uc_link = &own;
  makecontext(&made, on_made_stack, 0);
  swapcontext(&own, &made);
  return caught[0] + caught[1];
}
FLICK_NXP static int waits() { return switches() + 1; }

int main() {
  int sum = waits();
  std::printf("caught %d and %d\n", caught[0], caught[1]);
  std::printf("back with %d\n", sum);
}
