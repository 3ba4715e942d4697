// A debugger's way to look at a crossing: a trap behind each instruction (the trap flag of x86-64).
// The handler crosses itself, or leaves by siglongjmp, at each instruction of calls in both
// directions. Results stay right, and so do later calls. Nothing is counted then: counted calls
// take another path.
// OUT: wrong 0
// OUT: steps 1
// SKIP-VALGRIND: it has no trap flag
// SKIP-MODE: fault a step into the image is the fault that the runtime waits for
// SKIP-CARD: the steps go through the crossing of a card (docs/card.md)
#define _GNU_SOURCE
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100 };

FLICK_HOST __attribute__((noinline)) static long identity(long x) {
  __asm__ volatile("");
  return x;
}
FLICK_NXP __attribute__((noinline)) static long plus_one(long x) { return x + 1; }
FLICK_NXP __attribute__((noinline)) static long twice(long a) {
  return identity(a) + identity(a + 1);
}
FLICK_HOST __attribute__((noinline)) static long level_on_host(long further);
FLICK_NXP __attribute__((noinline)) static long level_on_nxp(long further) {
  return further > 0 ? level_on_host(further) + 1 : 0;
}
FLICK_HOST __attribute__((noinline)) static long level_on_host(long further) {
  long below = level_on_nxp(further - 1);
  __asm__ volatile("");
  return below + 1;
}

static volatile sig_atomic_t stepping, wrong;
static volatile long steps, leave_at;
static sigjmp_buf out;

FLICK_HOST static void on_trap(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  long step = ++steps;
  wrong += plus_one(step) != step + 1;
  if (step % 3 == 0)
    wrong += twice(step) != 2 * step + 1;
  if (step % 7 == 0)
    wrong += level_on_nxp(2) != 4;
  if (step == leave_at)
    siglongjmp(out, 1);
  if (!stepping)
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

FLICK_HOST __attribute__((noinline)) static void start(void) {
  steps = 0;
  stepping = 1;
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n pushfq\n orq %0, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
      :
      : "i"(TRAP_FLAG)
      : "memory", "cc");
}

static long calls(long x) {
  long sum = plus_one(x);
  sum += twice(x);
  return sum + level_on_nxp(3);
}

FLICK_HOST int main(void) {
  if (getenv("FLICK_STATS")) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
      unsetenv("FLICK_STATS");
      execl("/proc/self/exe", "prog", (char *)NULL);
      _exit(127);
    }
    waitpid(child, &status, 0);
    return calls(5) != 23 || status != 0;
  }
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  long expected = calls(5), whole;
  start();
  wrong += calls(5) != expected;
  stepping = 0;
  identity(0);
  whole = steps;
  // Some engines take thousands of steps: then not at each of them.
  for (long at = 1; at <= whole; at += 1 + whole / 100) {
    leave_at = at;
    if (sigsetjmp(out, 1) == 0) {
      start();
      wrong += calls(5) != expected;
      stepping = 0;
      identity(0);
    }
    stepping = leave_at = 0;
    wrong += calls(5) != expected;
  }
  printf("wrong %d\n", (int)wrong);
  printf("steps %d\n", whole > 20);
  return 0;
}
