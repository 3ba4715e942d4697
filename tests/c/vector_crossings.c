// Vector code of the NxP between host code: callbacks of qsort, several threads, a timer's handler
// that executes vector code in the middle of other vector code, recursion over both sides, a child
// of fork, and setjmp. Expects plain clang's results.
// CARD: card card-two
// FLICK-FLAGS: --nxp-march=rv64gcv -Xnxp=-O3
// LIBS: -lpthread
// SKIP-VALGRIND: the timer needs more time there
// CROSSINGS: host-to-nxp>=100 nxp-to-host>=30
#define _GNU_SOURCE
#include <flick.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 512, ROWS = 40 };

#define NXP FLICK_NXP __attribute__((noinline))
#define HOST FLICK_HOST __attribute__((noinline))

NXP long sum(const int32_t *x, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[i] * 3L;
  return sum;
}

NXP void mix(int32_t *restrict to, const int32_t *restrict from, int32_t k, long n) {
  for (long i = 0; i < n; i++)
    to[i] = (from[i] ^ k) * 5 + (to[i] >> 3);
}

static int32_t rows[ROWS][N];

// Called by the host's qsort.
NXP int by_sum(const void *a, const void *b) {
  long x = sum(*(int32_t *const *)a, N), y = sum(*(int32_t *const *)b, N);
  return (x > y) - (x < y);
}

// Vector code, a call of the host, and vector code again.
NXP long sorted(int32_t **all, long n) {
  long before = sum(all[0], N);
  qsort(all, (size_t)n, sizeof *all, by_sum);
  mix(all[0], all[1], 7, N);
  return before ^ sum(all[0], N);
}

HOST long down(int32_t *x, int depth);

NXP long up(int32_t *x, int depth) {
  mix(x, rows[depth], depth, N);
  long below = depth ? down(x, depth - 1) : 0;
  return below + sum(x, N);
}

HOST long down(int32_t *x, int depth) { return up(x, depth) * 3; }

static volatile sig_atomic_t ticks;
static long expected;
static int bad;

static void tick(int signal) {
  (void)signal;
  if (sum(rows[3], N) != expected)
    bad++;
  ticks++;
}

static void *work(void *argument) {
  int32_t mine[N] = {0};
  uint64_t result = 0;
  for (int i = 0; i < 300; i++) {
    mix(mine, rows[i % ROWS], (int32_t)(intptr_t)argument + i, N);
    result = result * 31 + (uint64_t)sum(mine, N);
  }
  return (void *)result;
}

static jmp_buf back;

HOST void jump(int n) { longjmp(back, n); }

NXP long jumps(int32_t *x) {
  volatile long result = 0;
  int n = setjmp(back);
  mix(x, rows[n], n, N);
  result += sum(x, N);
  if (n < 4)
    jump(n + 1);
  return result;
}

int main(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < N; j++)
      rows[i][j] = i * 7919 % 41 + j * 31 % 17;
  static int32_t x[N], *all[ROWS];
  for (int i = 0; i < ROWS; i++)
    all[i] = rows[i];
  printf("%ld\n", sorted(all, ROWS));
  long sums = up(x, 30);
  printf("%ld %ld\n", sums, jumps(x));

  expected = sum(rows[3], N);
  signal(SIGALRM, tick);
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  uint64_t first = (uint64_t)work((void *)5), same = 0;
  while (ticks < 100)
    same |= (uint64_t)work((void *)5) ^ first;
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%lu %lu %d\n", first, same, bad);

  pthread_t threads[6];
  for (int i = 0; i < 6; i++)
    pthread_create(&threads[i], NULL, work, (void *)(intptr_t)(i % 2 * 3));
  for (int i = 0; i < 6; i++) {
    void *result;
    pthread_join(threads[i], &result);
    printf("%lu\n", (uint64_t)result);
  }

  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    printf("child %ld %lu\n", sum(rows[2], N), (uint64_t)work((void *)1));
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  printf("parent %lu\n", (uint64_t)work((void *)1));
}
