// _exit called by NxP code: no handlers, no flush, the status arrives.
// OUT: before
// EXIT: 9
// CROSSINGS: unrecorded _exit runs no exit handlers
// SKIP-VALGRIND: valgrind flushes the buffers of stdio at _exit
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

FLICK_NXP static void handler(void) { printf("handler must not run\n"); }
FLICK_NXP static void leave(int status) {
  printf("before\n");
  fflush(stdout);
  printf("never flushed\n");
  _exit(status);
}

int main(void) {
  static char buffer[1024];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  atexit(handler);
  leave(9);
}
