// Sixty-four threads are in NxP code at the same time, each three levels deep through both sides,
// wait there for each other, and come back with their own results.
// OUT: 64 at once, 64 right
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 64 };
static atomic_int inside, most;
static pthread_barrier_t barrier;

static int deeper(int n, int level);
FLICK_NXP static int nxp(int n, int level) {
  volatile int keep[20];
  for (int i = 0; i < 20; i++)
    keep[i] = n * i + level;
  if (level == 3) {
    int now = atomic_fetch_add(&inside, 1) + 1, seen = atomic_load(&most);
    while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
      ;
    pthread_barrier_wait(&barrier);
    atomic_fetch_sub(&inside, 1);
  }
  int below = level < 3 ? deeper(n, level + 1) : 0;
  return keep[19] + below;
}
FLICK_HOST static int deeper(int n, int level) { return nxp(n, level) + 1; }
static void *thread(void *arg) {
  *(int *)arg = nxp(*(int *)arg, 1);
  return NULL;
}

int main(void) {
  pthread_t t[THREADS];
  int v[THREADS], right = 0;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 << 10);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    v[i] = i;
    if (pthread_create(&t[i], &small, thread, &v[i]))
      return 1;
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(t[i], NULL);
    right += v[i] == 3 * 19 * i + 1 + 2 + 3 + 2;
  }
  printf("%d at once, %d right\n", most, right);
}
