// setjmp and sigsetjmp in NxP code: longjmp from the same function, from NxP and host functions
// that it calls and from a signal handler; the function's own variables as C defines them; nested,
// in recursion over both sides, and again and again.
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static jmp_buf outer, inner;
static sigjmp_buf from_handler;

FLICK_HOST static void host_jumps(jmp_buf to, int v) { longjmp(to, v); }
FLICK_NXP static void nxp_jumps(jmp_buf to, int v) {
  volatile int deep[100] = {v};
  if (v % 2)
    longjmp(to, deep[0]);
  host_jumps(to, v);
}
FLICK_NXP static double loops(long a, double b) {
  long c = a * 3;
  double d = b + 0.25;
  volatile int count = 0;
  int v = setjmp(outer);
  if (v)
    count += v;
  if (count < 20)
    nxp_jumps(outer, v + 1);
  return count * 100 + c + d;
}
FLICK_NXP static int values(int v) {
  switch (setjmp(inner)) {
  case 0:
    host_jumps(inner, v);
    return -1;
  case 1:
    return 1;
  default:
    return 2;
  }
}
FLICK_NXP static int recursive(int depth, int jump_to);
FLICK_HOST static int between(int depth, int jump_to) { return recursive(depth, jump_to) + 1; }
static jmp_buf levels[6];
FLICK_NXP static int recursive(int depth, int jump_to) {
  volatile int mine = depth * 10;
  if (depth == 5)
    longjmp(levels[jump_to], 7);
  int v = setjmp(levels[depth]);
  if (v)
    return mine + v;
  return between(depth + 1, jump_to) + mine;
}
static void handler(int signal) { siglongjmp(from_handler, signal == SIGUSR1 ? 3 : 4); }
FLICK_NXP static int by_signal(int save) {
  sigset_t now;
  int v = sigsetjmp(from_handler, save);
  if (!v)
    raise(SIGUSR1);
  sigprocmask(SIG_BLOCK, NULL, &now);
  int blocked = sigismember(&now, SIGUSR1);
  sigemptyset(&now);
  sigprocmask(SIG_SETMASK, &now, NULL);
  return v * 10 + blocked;
}

int main(void) {
  for (int i = 0; i < 500; i++) {
    double r = loops(i, 0.5);
    if (i % 250 == 0)
      printf("%g\n", r);
  }
  printf("%d %d %d\n", values(0), values(1), values(9));
  for (int to = 0; to < 5; to++)
    printf("%d\n", recursive(0, to));
  signal(SIGUSR1, handler);
  printf("%d %d\n", by_signal(1), by_signal(0));
}
