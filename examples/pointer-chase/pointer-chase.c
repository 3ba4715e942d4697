/* Pointer chasing, after the Flick paper (ISCA 2020), section V.B: the host calls a function on the
 * NxP that follows a linked list through NxP-local memory; the number of nodes per call is swept.
 * The nodes are 8-byte aligned and spread at random over the region.
 *
 * stdout is the same for every compiler; times go to stderr, with -t only. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <flick.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct node {
  struct node *next;
} node;

/* The traversal: where the list is, there the thread goes. */
FLICK_NXP static const node *chase(const node *at, uint64_t count) {
  while (count-- > 0)
    at = at->next;
  return at;
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_below(uint64_t bound) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state % bound;
}

static void *allocate(int kind, size_t size) {
  void *memory = flick_alloc(kind, size);
  if (!memory) {
    fprintf(stderr, "pointer-chase: %zu bytes: %s\n", size, strerror(errno));
    exit(1);
  }
  return memory;
}

/* Links COUNT nodes, one at a random place in each of COUNT equal parts of the region, to one ring
 * in random order. */
static const node *make_ring(char *region, size_t size, size_t count) {
  node **order = allocate(FLICK_MEM_HOST, count * sizeof *order);
  size_t part = size / count / sizeof(node) * sizeof(node);
  for (size_t i = 0; i < count; i++)
    order[i] = (node *)(region + i * part + random_below(part / sizeof(node)) * sizeof(node));
  for (size_t i = count - 1; i > 0; i--) {
    size_t j = random_below(i + 1);
    node *swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  for (size_t i = 0; i < count; i++)
    order[i]->next = order[(i + 1) % count];
  const node *first = order[0];
  flick_free(order);
  return first;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The host's own work between two calls: the paper's migration interval. */
static void stay_on_host(double microseconds) {
  for (double end = now() + microseconds; microseconds > 0 && now() < end;)
    ;
}

static uint64_t number(char option, const char *text) {
  char *end;
  errno = 0;
  uint64_t value = strtoull(text, &end, 10);
  if (errno || end == text || *end || *text == '-') {
    fprintf(stderr, "pointer-chase: -%c %s: not a number\n", option, text);
    exit(2);
  }
  return value;
}

int main(int argc, char **argv) {
  uint64_t mib = 64, nodes = 65536, calls = 100, step = 4, longest = 1024, interval = 0;
  int timed = 0, option;
  while ((option = getopt(argc, argv, "m:k:c:s:l:i:t")) != -1) {
    switch (option) {
    case 'm':
      mib = number('m', optarg);
      break;
    case 'k':
      nodes = number('k', optarg);
      break;
    case 'c':
      calls = number('c', optarg);
      break;
    case 's':
      step = number('s', optarg);
      break;
    case 'l':
      longest = number('l', optarg);
      break;
    case 'i':
      interval = number('i', optarg);
      break;
    case 't':
      timed = 1;
      break;
    default:
      fprintf(stderr, "usage: pointer-chase [-m MIB] [-k NODES] [-c CALLS] [-s STEP] [-l LONGEST]\n"
                      "                     [-i MICROSECONDS between calls] [-t]\n");
      return 2;
    }
  }
  if (mib == 0 || mib > 1u << 20 || nodes == 0 || nodes > (mib << 20) / sizeof(node) || step == 0) {
    fprintf(stderr, "pointer-chase: %" PRIu64 " nodes do not fit %" PRIu64 " MiB\n", nodes, mib);
    return 2;
  }

  size_t size = mib << 20;
  char *region = allocate(FLICK_MEM_NXP, size);
  const node *at = make_ring(region, size, nodes);
  printf("%" PRIu64 " nodes in %" PRIu64 " MiB, %" PRIu64 " calls per length\n", nodes, mib, calls);
  for (uint64_t length = step; length <= longest; length += step) {
    double begin = now();
    for (uint64_t call = 0; call < calls; call++) {
      at = chase(at, length);
      stay_on_host((double)interval);
    }
    double each = (now() - begin) / (double)(calls ? calls : 1);
    printf("%5" PRIu64 " nodes per call: at offset %zu\n", length,
           (size_t)((const char *)at - region));
    if (timed)
      fprintf(stderr, "%5" PRIu64 " nodes per call: %.3f us\n", length, each);
  }
  flick_free(region);
}
