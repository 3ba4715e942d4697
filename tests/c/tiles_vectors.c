// Activations of one tile move to another for instructions that no hart of their own has, and back:
// with callbacks, recursion over both, longjmp, signal handlers that cross, fork, and more threads
// than harts. Expects plain clang's results.
// CARD: card-two card
// FLICK-FLAGS: --nxp-march=rv64gcv -Xnxp=-O3
// LIBS: -lpthread
// TIMEOUT: 60
#define _GNU_SOURCE
#include <flick.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 200, THREADS = 12 };

#define NXP FLICK_NXP __attribute__((noinline))

static volatile int handled;
static jmp_buf out;

NXP void fill(int32_t *to, int32_t first, long n) {
  for (long i = 0; i < n; i++)
    to[i] = first + (int32_t)i * 3;
}

NXP long add_up(const int32_t *x, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

NXP long twice(long x) { return 2 * x; }

/* Called by code that has moved: nested activations, on the tile by default, and again moved. */
static long host(long depth, long value);

NXP long deep(int32_t *x, long depth) {
  fill(x, (int32_t)depth, N);
  long before = add_up(x, N);
  long called = depth > 0 ? host(depth - 1, before) : before;
  return called + add_up(x, N) + depth;
}

static long host(long depth, long value) {
  int32_t own[N];
  return twice(value) + deep(own, depth);
}

/* Vectors, then a jump out over the host's frame. */
static void leave(long value) { longjmp(out, (int)(value & 0xff) | 1); }

NXP long jumps(int32_t *x, void (*volatile away)(long)) {
  fill(x, 7, N);
  away(add_up(x, N));
  return -1;
}

static void handler(int number) {
  int32_t own[N];
  fill(own, number, N);
  handled += add_up(own, N) == 3L * N * (N - 1) / 2 + (long)number * N;
}

NXP long raises(int32_t *x, int (*volatile raising)(int), int number) {
  long sum = 0;
  for (int i = 0; i < 20; i++) {
    fill(x, i, N);
    raising(number);
    sum += add_up(x, N);
  }
  return sum;
}

/* A child within the activation goes on where its parent is. */
NXP long forks(int32_t *x, pid_t (*volatile forking)(void), pid_t *child) {
  fill(x, 11, N);
  *child = forking();
  return add_up(x, N);
}

static void *run(void *argument) {
  int32_t own[N];
  long sum = 0, number = (long)(uintptr_t)argument;
  for (int i = 0; i < 10; i++) {
    fill(own, (int32_t)number + i, N);
    sum += add_up(own, N) + deep(own, i % 3) + twice(i);
  }
  return (void *)(uintptr_t)sum;
}

int main(void) {
  int32_t x[N];
  printf("deep: %ld %ld\n", deep(x, 0), deep(x, 6));

  int value = setjmp(out);
  if (value == 0)
    printf("not here: %ld\n", jumps(x, leave));
  printf("jumped: %d, and on: %ld\n", value, deep(x, 1));

  signal(SIGUSR1, handler);
  long sum = raises(x, raise, SIGUSR1);
  printf("raised: %ld, handled: %d\n", sum, handled);

  pid_t child;
  fflush(stdout);
  sum = forks(x, fork, &child);
  if (child == 0) {
    printf("child: %ld %ld\n", sum, deep(x, 2));
    fflush(stdout);
    _exit(3);
  }
  int status;
  waitpid(child, &status, 0);
  printf("parent: %ld, status %d\n", sum, WEXITSTATUS(status));

  pthread_t threads[THREADS];
  for (uintptr_t n = 0; n < THREADS; n++)
    pthread_create(&threads[n], NULL, run, (void *)n);
  for (int n = 0; n < THREADS; n++) {
    void *result;
    pthread_join(threads[n], &result);
    printf("thread %d: %ld\n", n, (long)(uintptr_t)result);
  }
  return 0;
}
