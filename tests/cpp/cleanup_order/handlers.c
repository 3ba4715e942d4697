// In C a handler is a setjmp, to which the C library jumps when it has unwound what is below.
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

void go_on(int depth, int how);

static void handler(void *n) { printf("handler %d\n", *(int *)n); }

FLICK_NXP void nxp_handler(int depth, int how) {
  int n = depth;
  pthread_cleanup_push(handler, &n);
  go_on(depth - 1, how);
  pthread_cleanup_pop(0);
}
FLICK_HOST void host_handler(int depth, int how) {
  int n = depth;
  pthread_cleanup_push(handler, &n);
  go_on(depth - 1, how);
  pthread_cleanup_pop(0);
}
