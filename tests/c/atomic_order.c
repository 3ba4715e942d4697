// Release and acquire between a host and an NxP thread: a message is complete when its flag is
// seen, in both directions; fences included.
// OUT: 0 0
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static long message[4];
static atomic_int turn;
enum { ROUNDS = 2000 };

FLICK_NXP static void *reader(void *arg) {
  long *bad = arg;
  for (int r = 1; r <= ROUNDS; r++) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != 2 * r - 1)
      sched_yield();
    for (int i = 0; i < 4; i++) {
      *bad += message[i] != r * (i + 1);
      message[i] = -r;
    }
    atomic_store_explicit(&turn, 2 * r, memory_order_release);
  }
  return NULL;
}

int main(void) {
  long bad = 0, bad_back = 0;
  pthread_t t;
  pthread_create(&t, NULL, reader, &bad);
  for (int r = 1; r <= ROUNDS; r++) {
    for (int i = 0; i < 4; i++)
      message[i] = r * (i + 1);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&turn, 2 * r - 1, memory_order_relaxed);
    while (atomic_load_explicit(&turn, memory_order_relaxed) != 2 * r)
      sched_yield();
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < 4; i++)
      bad_back += message[i] != -r;
  }
  pthread_join(t, NULL);
  printf("%ld %ld\n", bad, bad_back);
}
