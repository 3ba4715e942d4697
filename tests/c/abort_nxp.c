// abort called by NxP code: a SIGABRT handler runs and returns, then the program ends by SIGABRT.
// OUT: handler
// EXIT: signal ABRT
// CFLAGS: -Wno-infinite-recursion
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void handler(int signal) {
  printf("%s\n", signal == SIGABRT ? "handler" : "wrong");
  fflush(stdout);
}
FLICK_NXP static void give_up(int depth) {
  volatile int keep = depth;
  if (keep == 0)
    abort();
  give_up(depth - 1);
  keep = 0;
}

int main(void) {
  signal(SIGABRT, handler);
  give_up(5);
}
