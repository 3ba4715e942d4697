// The same on a thread with a small stack.
// LIBS: -lpthread
// FAILS: run FLK0502
// EXIT: signal SEGV
// SAYS: NxP stack overflow
#include <flick.h>
#include <pthread.h>

static volatile long limit = -1;

__attribute__((noinline)) FLICK_NXP long deep(long n) {
  volatile char frame[256];
  frame[n & 255] = (char)n;
  return n == limit ? 0 : deep(n + 1) + frame[n & 255];
}

static void *run(void *unused) {
  (void)unused;
  return (void *)deep(0);
}

int main(void) {
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 << 10);
  pthread_create(&thread, &small, run, 0);
  pthread_join(thread, 0);
  return 0;
}
