/* The host's own memory in virtual time, against formulas: a platform with round figures
 * (own_memory.toml), and loops of one kind each. Usage: own_memory FORM. */
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double now(void) {
  struct flick_prediction p;
  if (flick_predict(&p))
    exit(77);
  return (double)p.migrating_ps / 1000;
}

static unsigned long seed = 1;
static unsigned long draw(void) {
  seed = seed * 6364136223846793005UL + 1442695040888963407UL;
  return seed >> 33;
}

struct node {
  struct node *next;
  char rest[56];
};

/* Nodes of a line each, in a cycle in drawn order. */
static struct node *cycle(size_t bytes) {
  size_t n = bytes / sizeof(struct node);
  struct node *all = aligned_alloc(4096, bytes);
  size_t *order = malloc(n * sizeof *order);
  for (size_t i = 0; i < n; i++)
    order[i] = i;
  for (size_t i = n - 1; i > 0; i--) {
    size_t j = draw() % (i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (size_t i = 0; i < n; i++)
    all[order[i]].next = &all[order[(i + 1) % n]];
  free(order);
  return all;
}

__attribute__((noinline)) static struct node *walk(struct node *p, long steps) {
  while (steps--)
    p = p->next;
  return p;
}

/* Nanoseconds a step, when all that fits into caches is there. */
static double chase(size_t bytes) {
  struct node *p = cycle(bytes);
  long steps = 3 * (long)(bytes / sizeof(struct node));
  p = walk(p, steps);
  double start = now();
  p = walk(p, steps);
  double each = (now() - start) / (double)steps;
  return p ? each : 0;
}

__attribute__((noinline)) static long sum(const long *a, size_t n) {
  long s = 0;
  for (size_t i = 0; i < n; i++)
    s += a[i];
  return s;
}

/* Nanoseconds a line. */
static double stream(void) {
  size_t n = 1 << 20;
  long *a = calloc(n, sizeof *a);
  double start = now();
  long s = sum(a, n);
  return (now() - start) / (double)(n / 8) + (double)s;
}

__attribute__((noinline)) static long gather(const long *a, size_t mask, long n) {
  unsigned long x = 1;
  long s = 0;
  for (long i = 0; i < n; i++) {
    x = x * 6364136223846793005UL + 1442695040888963407UL;
    s += a[(x >> 33 & mask) * 8];
  }
  return s;
}

/* Nanoseconds an access to a line that is in no cache, and whose address no load has given. */
static double scattered(void) {
  size_t lines = 1 << 19;
  long *a = calloc(lines, 64);
  double start = now();
  long s = gather(a, lines - 1, 100000);
  return (now() - start) / 100000 + (double)s;
}

__attribute__((noinline)) static long gather_listed(const long *a, const unsigned *where, long n) {
  long s = 0;
  for (long i = 0; i < n; i++)
    s += a[(size_t)where[i] * 8];
  return s;
}

/* The same by a list of indices, which are loaded: one access does not wait for the other. */
static double listed(void) {
  size_t lines = 1 << 19;
  long *a = calloc(lines, 64);
  unsigned *where = malloc(100000 * sizeof *where);
  for (long i = 0; i < 100000; i++)
    where[i] = (unsigned)(draw() % lines);
  double start = now();
  long s = gather_listed(a, where, 100000);
  return (now() - start) / 100000 + (double)s;
}

/* Nanoseconds a line of a block that is filled, and of one that is copied. */
static double fill(void) {
  size_t n = 8 << 20;
  char *a = malloc(n);
  double start = now();
  memset(a, 1, n);
  __asm__ volatile("" ::"r"(a) : "memory");
  double each = (now() - start) / (double)(n / 64);
  return a[n / 2] ? each : 0;
}

static double copy(void) {
  size_t n = 4 << 20;
  char *a = calloc(n, 1), *b = malloc(n);
  double start = now();
  memcpy(b, a, n);
  double each = (now() - start) / (double)(n / 64);
  return b[n / 2] == 0 ? each : 0;
}

/* A pass over a local variable that no cache holds. */
__attribute__((noinline)) static double local(void) {
  enum { N = 1 << 19 };
  volatile long a[N];
  double start = now();
  for (int i = 0; i < N; i += 8)
    a[i] = i;
  return (now() - start) / (N / 8) + (double)(a[8] - 8);
}

/* A variable of the program: one line, which stays in the nearest cache. */
static volatile long counter;
static double variable(void) {
  double start = now();
  for (int i = 0; i < 100000; i++)
    counter++;
  return (now() - start) / 100000;
}

int main(int count, char **argument) {
  const char *form = count > 1 ? argument[1] : "";
  struct {
    const char *name;
    double (*run)(void);
    size_t chased;
    double least, most;
  } forms[] = {
      /* The nearest cache: 4 cycles. The second: 10 more. The memory: 100 more. */
      {"chase_nearest", 0, 16 << 10, 3.9, 5},
      {"chase_second", 0, 128 << 10, 13.9, 15},
      {"chase_memory", 0, 8 << 20, 103.9, 106},
      /* 64 bytes at 6.4 GB/s. */
      {"stream", stream, 0, 9.9, 11},
      /* 8 lines at a time: 100 ns / 8. */
      {"scattered", scattered, 0, 12.4, 14},
      {"listed", listed, 0, 12.4, 15},
      {"fill", fill, 0, 9.9, 11},
      {"copy", copy, 0, 19.9, 22},
      {"local", local, 0, 9.9, 13},
      {"variable", variable, 0, 0, 1},
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (strcmp(form, forms[i].name) == 0) {
      double each = forms[i].run ? forms[i].run() : chase(forms[i].chased);
      printf("%s: %.2f ns, %.1f to %.1f expected\n", form, each, forms[i].least, forms[i].most);
      return each < forms[i].least || each > forms[i].most;
    }
  return 2;
}
