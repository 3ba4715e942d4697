// The first crossing of a thread is in a signal handler that interrupts malloc or free.
// OUT: wrong 0
// LIBS: -lpthread
// SKIP-VALGRIND: it is slow, and runs one thread at a time
#include "flick.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread volatile int crossed;
static _Atomic int wrong;

FLICK_NXP __attribute__((noinline)) static int plus_one(int x) { return x + 1; }
static void handler(int signal) {
  (void)signal;
  if (plus_one(1) != 2)
    ++wrong;
  crossed = 1;
}
static void *allocate(void *seed) {
  void *kept[64] = {0};
  unsigned k = (unsigned)(uintptr_t)seed;
  for (unsigned i = 0; (i & 1023) != 0 || !crossed; ++i) {
    k = k * 1103515245 + 12345;
    void **slot = &kept[k >> 10 & 63];
    free(*slot);
    *slot = malloc((k >> 16) % 3000 + 8);
    if (*slot)
      memset(*slot, 1, 8);
  }
  for (int i = 0; i < 64; ++i)
    free(kept[i]);
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR1, &action, NULL);
  for (int round = 0; round < 100; ++round) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
      pthread_create(&threads[i], NULL, allocate, (void *)(uintptr_t)(round * 7 + i));
    usleep(200);
    for (int i = 0; i < 4; ++i)
      pthread_kill(threads[i], SIGUSR1);
    for (int i = 0; i < 4; ++i)
      pthread_join(threads[i], NULL);
  }
  printf("wrong %d\n", wrong);
  return 0;
}
