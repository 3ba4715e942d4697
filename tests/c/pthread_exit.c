// pthread_exit called by NxP code and by a host callee over NxP frames, at several depths. Expects
// host cleanup handlers to run in order, the result to reach pthread_join, and the rest to go on.
// OUT: 0 1 []
// OUT: 1 1 [b]
// OUT: 2 1 [bc]
// OUT: 3 1 [bcd]
// OUT: 4 1 [bcde]
// OUT: 5 1 [bcdef]
// OUT: 0 1 []
// OUT: 1 1 [b]
// OUT: 2 1 [bc]
// OUT: 3 1 [bcd]
// OUT: 4 1 [bcde]
// OUT: 5 1 [bcdef]
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

static char trace[128];
static int length;
static char letters[] = "abcdefgh";

static void cleanup(void *arg) { trace[length++] = *(const char *)arg; }

FLICK_HOST static void leave(int *result);
FLICK_NXP static void descend(int depth, int *result);

static void guarded(int depth, int *result) {
  pthread_cleanup_push(cleanup, &letters[depth]);
  descend(depth - 1, result);
  pthread_cleanup_pop(0);
}
FLICK_HOST static void leave(int *result) { pthread_exit(result); }
FLICK_NXP static void descend(int depth, int *result) {
  volatile int local = depth;
  if (depth == 0) {
    if (*result % 2)
      pthread_exit(result);
    leave(result);
  }
  guarded(depth, result);
  trace[length++] = (char)('0' + local);
}

static void *thread(void *arg) {
  descend(*(int *)arg, arg);
  return NULL;
}

int main(void) {
  for (int round = 0; round < 2; round++)
    for (int depth = 0; depth < 6; depth++) {
      pthread_t t;
      int result = depth;
      void *back;
      length = 0;
      pthread_create(&t, NULL, thread, &result);
      pthread_join(t, &back);
      trace[length] = 0;
      printf("%d %d [%s]\n", depth, back == &result, trace);
    }
}
