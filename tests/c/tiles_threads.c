// Hundreds of threads use two tiles at a time, by marks and by flick_prefer. A child of fork goes
// on in both tiles, and a thread ends in the middle of calls of both.
// CARD: card-two
// LIBS: -lpthread
// OUT: threads 200 sum 425000
// OUT: child 31 parent 31
// OUT: pthread_exit 200
// OUT: exit 5
// EXIT: 5
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ON_STORAGE FLICK_NXP_ON("storage")
#define ON_COMPUTE FLICK_NXP_ON("compute")
#define ALONE __attribute__((noinline))

enum { THREADS = 200, ROUNDS = 10 };

ON_COMPUTE ALONE long square(long x) { return x * x; }
ON_STORAGE ALONE long step(long x) { return square(x % 10) + x; }
FLICK_NXP ALONE long plain(long x) { return x + step(x) - square(x % 10); }

static void *work(void *argument) {
  long at = (long)argument, sum = 0;
  if (at % 2)
    flick_prefer("compute");
  for (long i = 0; i < ROUNDS; i++)
    sum += plain(at + i) + step(i) - square(i);
  return (void *)sum;
}

ALONE static void leave(void) { pthread_exit((void *)(long)THREADS); }
ON_COMPUTE ALONE long deep_compute(long n);
ON_STORAGE ALONE long deep_storage(long n) { return deep_compute(n - 1) + 1; }
ON_COMPUTE ALONE long deep_compute(long n) {
  return n <= 0 ? (leave(), 0) : deep_storage(n - 1) + 1;
}
static void *ends(void *argument) {
  deep_storage((long)argument);
  return NULL;
}

ON_COMPUTE ALONE pid_t forks(void) { return fork(); }
ON_STORAGE ALONE long around_fork(pid_t *child) {
  long x = square(3);
  *child = forks();
  return square(x / 2) + square(3) + 6;
}

ALONE static long end(long code) {
  fflush(stdout);
  exit((int)code);
}
ON_COMPUTE ALONE long ends_process(long x) { return end(x); }
ON_STORAGE ALONE long ends_there(long x) { return ends_process(x + 1) + 1; }

int main(void) {
  pthread_t threads[THREADS];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 << 10);
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], &small, work, (void *)i);
  long sum = 0;
  for (long i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  printf("threads %d sum %ld\n", THREADS, sum);
  fflush(stdout);

  pid_t child = -1;
  long value = around_fork(&child);
  if (child == 0)
    _exit((int)value);
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d parent %ld\n", WEXITSTATUS(status), value);

  void *result;
  pthread_create(&threads[0], &small, ends, (void *)20L);
  pthread_join(threads[0], &result);
  printf("pthread_exit %ld\n", (long)result);
  printf("exit 5\n");
  return (int)ends_there(4);
}
