/* The host's core in virtual time, against formulas: host_core.toml, and loops of one kind each.
 * Usage: host_core FORM. */
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PLAIN _Pragma("clang loop vectorize(disable) unroll(disable) interleave(disable)")

enum { N = 2000, ROUNDS = 50 };

static double now(void) {
  struct flick_prediction p;
  if (flick_predict(&p))
    exit(77);
  return (double)p.migrating_ps / 1000;
}

static double numbers[N];
static long words[N];
static unsigned char directions[N * ROUNDS];

/* An addition waits for the one before. */
__attribute__((noinline)) static double chain(const double *a, double s) {
  PLAIN for (int i = 0; i < N; i++) s += a[i];
  return s;
}

/* Every second one waits: the two sums change places. */
__attribute__((noinline)) static double two(const double *a, double s) {
  double t = 1;
  PLAIN for (int i = 0; i < N; i++) {
    double next = s + a[i];
    s = t;
    t = next;
  }
  return s + t;
}

/* A chain that begins anew with each row. */
__attribute__((noinline)) static double rows(const double *a, int length) {
  double most = 0;
  PLAIN for (int row = 0; row < N / length; row++) {
    double s = 0;
    PLAIN for (int i = 0; i < length; i++) s += a[row * length + i];
    most = s > most ? s : most;
  }
  return most;
}

/* Four operations, none of which waits for another iteration's but the counter. */
__attribute__((noinline)) static void apart(long *a) {
  PLAIN for (int i = 0; i < N; i++) a[i] = (a[i] + 7) ^ 5;
}

__attribute__((noinline)) static long branches(const unsigned char *to, long n) {
  long s = 0;
  PLAIN for (long i = 0; i < n; i++) if (to[i] & 1) __asm__ volatile("" : "+r"(s));
  return s;
}

static long calls;
__attribute__((noinline)) static void one(void) { calls++; }
__attribute__((noinline)) static void other(void) { calls += 2; }
static void (*volatile targets[2])(void) = {one, other};

__attribute__((noinline)) static void through_pointers(const unsigned char *to, long n) {
  PLAIN for (long i = 0; i < n; i++) targets[to[i] & 1]();
}

static unsigned long draw(unsigned long *seed) {
  *seed = *seed * 6364136223846793005UL + 1442695040888963407UL;
  return *seed >> 40;
}

/* Nanoseconds of a step. */
static double measure(const char *form, double *least, double *most) {
  unsigned long seed = 1;
  long n = (long)N * ROUNDS;
  bool random = strstr(form, "random");
  memset(directions, 0, sizeof directions);
  for (long i = 0; random && i < n; i++)
    directions[i] = draw(&seed) & 1;
  double sum = 0, start = now();
  if (!strcmp(form, "faults")) {
    enum { PAGES = 1000 };
    char *fresh =
        mmap(NULL, PAGES * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *least = 990, *most = 1050;
    for (long round = 0; round < 3; round++)
      for (long i = 0; i < PAGES; i++)
        fresh[i * 4096] = 1;
    return (now() - start) / PAGES;
  }
  for (int round = 0; round < ROUNDS; round++) {
    if (!strcmp(form, "chain")) {
      *least = 3.9, *most = 4.1;
      sum = chain(numbers, sum);
    } else if (!strcmp(form, "two")) {
      *least = 1.9, *most = 2.1;
      sum = two(numbers, sum);
    } else if (!strcmp(form, "rows")) {
      /* A window of some 70 iterations has several rows at a time: 4 * 20 / (70 + 20). */
      *least = 0.8, *most = 1.6;
      sum += rows(numbers, 20);
    } else if (!strcmp(form, "long_rows")) {
      /* All but a window's iterations: 4 * (500 - 70) / 500. */
      *least = 3.3, *most = 3.7;
      sum += rows(numbers, 500);
    } else if (!strcmp(form, "apart")) {
      *least = 0.95, *most = 2.1;
      apart(words);
    }
  }
  if (strstr(form, "branches")) {
    *least = random ? 9 : 0.4, *most = random ? 13 : 2;
    sum += (double)branches(directions, n);
  } else if (strstr(form, "targets")) {
    *least = random ? 9 : 0.4, *most = random ? 15 : 4;
    through_pointers(directions, n);
  }
  double each = (now() - start) / (double)n;
  return sum < 0 ? 0 : each;
}

int main(int argc, char **argv) {
  for (int i = 0; i < N; i++)
    numbers[i] = argc;
  double least = 0, most = 0, each = measure(argc > 1 ? argv[1] : "", &least, &most);
  printf("%s: %.2f ns, from %.2f to %.2f\n", argv[1], each, least, most);
  return each < least || each > most;
}
