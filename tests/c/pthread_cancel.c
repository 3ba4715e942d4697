// A thread is cancelled while it waits in the C library under NxP frames. Expects its cleanup
// handlers to run and PTHREAD_CANCELED.
// OUT: 1 3
// OUT: 1 6
// OUT: 1 9
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t ready;
static int cleaned;

static void cleanup(void *arg) { cleaned += *(int *)arg; }

FLICK_HOST static void wait_forever(void) {
  int two = 2;
  pthread_cleanup_push(cleanup, &two);
  sem_post(&ready);
  for (volatile int forever = 1; forever;)
    pause();
  pthread_cleanup_pop(0);
}
FLICK_NXP static void down(int depth) {
  volatile int keep = depth;
  if (keep)
    down(depth - 1);
  else
    wait_forever();
  keep = 0;
}
static void *thread(void *arg) {
  int one = 1;
  pthread_cleanup_push(cleanup, &one);
  down(5);
  pthread_cleanup_pop(0);
  return arg;
}

int main(void) {
  sem_init(&ready, 0, 0);
  for (int i = 0; i < 3; i++) {
    pthread_t t;
    void *r;
    pthread_create(&t, NULL, thread, NULL);
    sem_wait(&ready);
    pthread_cancel(t);
    pthread_join(t, &r);
    printf("%d %d\n", r == PTHREAD_CANCELED, cleaned);
  }
}
