// exit called by NxP code, deep inside nested calls, with atexit handlers of both sides and one
// that crosses; buffered output must appear.
// OUT: leaving
// OUT: host handler 2
// OUT: nxp handler 1
// OUT: host handler 0
// EXIT: 7
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

static int order = 3;

FLICK_NXP static int next(void) { return --order; }
static void on_host(void) { printf("host handler %d\n", next()); }
FLICK_NXP static void on_nxp(void) { printf("nxp handler %d\n", next()); }

FLICK_HOST static void deeper(int n);
FLICK_NXP static void leave(int n) {
  if (n == 0) {
    printf("leaving\n");
    exit(7);
  }
  deeper(n - 1);
}
FLICK_HOST static void deeper(int n) { leave(n); }

FLICK_NXP static void prepare(void) {
  atexit(on_host);
  atexit(on_nxp);
  atexit(on_host);
}

int main(void) {
  prepare();
  leave(4);
  return 1;
}
