// Several threads fault in NxP code at once and recover by siglongjmp in their own handler frames.
// OUT: 500893 500893 500893 500893
// LIBS: -pthread
// SKIP-VALGRIND: memcheck reports the bad accesses that are the subject
#include <flick.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static _Thread_local sigjmp_buf env;
static void handler(int signal) { siglongjmp(env, signal == SIGSEGV ? 1 : 2); }
FLICK_NXP static int read_at(const volatile int *p, int depth) {
  volatile int keep = depth;
  int v = depth ? read_at(p, depth - 1) : *p;
  return v + keep;
}

static void *thread(void *arg) {
  int value = 10;
  volatile int caught = 0, sum = 0;
  for (volatile int i = 0; i < 100; i++) {
    if (sigsetjmp(env, 1) == 0)
      sum += read_at(i % 2 ? &value : NULL, i % 7);
    else
      caught++;
  }
  *(int *)arg = caught * 10000 + sum;
  return NULL;
}

int main(void) {
  signal(SIGSEGV, handler);
  pthread_t t[4];
  int r[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, thread, &r[i]);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%d %d %d %d\n", r[0], r[1], r[2], r[3]);
}
