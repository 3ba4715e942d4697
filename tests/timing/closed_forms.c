// Virtual time against formulas. The first argument says which platform of run.sh this runs under;
// every check is exact.
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  char rest[4088];
};

FLICK_NXP __attribute__((noinline)) struct node *chase(struct node *at, long count) {
  while (count-- > 0)
    at = at->next;
  return at;
}

FLICK_NXP __attribute__((noinline)) long sum(volatile long *data, long count) {
  long total = 0;
  for (long i = 0; i < count; i++)
    total += data[i];
  return total;
}

FLICK_NXP __attribute__((noinline)) void nothing(void) {}

FLICK_HOST __attribute__((noinline)) void host_nothing(void) { __asm__ volatile(""); }

FLICK_NXP __attribute__((noinline)) void call_host(long count) {
  while (count-- > 0)
    host_nothing();
}

static struct flick_prediction begin;
static int failed;

static void start(void) { flick_predict(&begin); }

// Times in picoseconds; -1: any.
static void check(const char *what, long long migrating, long long staying) {
  struct flick_prediction end;
  flick_predict(&end);
  long long m = end.migrating_ps - begin.migrating_ps, s = end.staying_ps - begin.staying_ps;
  if ((migrating < 0 || m == migrating) && (staying < 0 || s == staying))
    return;
  printf("%s: %lld ps migrating, %lld ps staying; the formula has %lld and %lld\n", what, m, s,
         migrating, staying);
  failed = 1;
}

int main(int argc, char **argv) {
  const char *form = argc > 1 ? argv[1] : "";
  enum { NODES = 64 };
  struct node *nodes = flick_alloc(FLICK_MEM_NXP, (NODES + 1) * sizeof *nodes);
  // Each node a page of its own.
  nodes = (struct node *)(((size_t)nodes + 4095) & ~(size_t)4095);
  for (int i = 0; i < NODES; i++)
    nodes[i].next = &nodes[(i + 1) % NODES];
  // Stacks are mapped, and the first misses made.
  chase(nodes, 2L * NODES);

  if (!strcmp(form, "latency")) {
    start();
    chase(nodes, 1000);
    check("1000 loads of 100 ns, of 300 ns on the host", 1000 * 100000LL, 1000 * 300000LL);
  } else if (!strcmp(form, "bandwidth")) {
    start();
    sum((long *)nodes, 30000);
    check("240,000 bytes at 1 GB/s, at 0.5 GB/s on the host", 240000 * 1000LL, 240000 * 2000LL);
  } else if (!strcmp(form, "instructions")) {
    // Three instructions a node: load, count, branch.
    start();
    chase(nodes, 1000);
    struct flick_prediction one;
    flick_predict(&one);
    long long first = one.migrating_ps - begin.migrating_ps;
    start();
    chase(nodes, 2000);
    check("1000 more nodes of three cycles at 1 GHz", first + 1000 * 3 * 1000LL, -1);
  } else if (!strcmp(form, "tlb")) {
    // One entry: each node is on another page than the one before.
    start();
    chase(nodes, 1000);
    check("1000 misses of 1 us", 1000 * 1000000LL, 0);
    start();
    sum((long *)&nodes[5], 100);
    check("one miss of 1 us", 1000000LL, 0);
  } else if (!strcmp(form, "cache")) {
    // A cache of 16 lines of 64 bytes, one way: eight longs a line.
    start();
    sum((long *)nodes, 8000);
    check("1000 lines of 100 ns", 1000 * 100000LL, -1);
    start();
    sum((long *)nodes, 128);
    check("16 lines that others have displaced", 16 * 100000LL, -1);
    start();
    sum((long *)nodes, 128);
    check("16 lines that are there", 0, -1);
  } else if (!strcmp(form, "link")) {
    start();
    for (int i = 0; i < 100; i++)
      nothing();
    check("100 calls of the NxP, two ways of 5 us", 100 * 2 * 5000000LL, 0);
    start();
    call_host(100);
    check("100 calls of the host in one call of the NxP", 101 * 2 * 5000000LL, 0);
  } else if (!strcmp(form, "free")) {
    start();
    for (int i = 0; i < 100; i++)
      nothing();
    call_host(100);
    check("crossings that cost nothing", 0, 0);
  } else {
    printf("which form?\n");
    return 2;
  }
  return failed;
}
