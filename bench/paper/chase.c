/* Figure 5 of the Flick paper (ISCA 2020), section V.B: the host calls a function on the NxP that
 * follows a linked list; the nodes are 8-byte aligned and spread at random over 4 GB of NxP-local
 * memory, and the number of nodes that a call visits is swept. Between two calls the host pauses
 * (5b) or does not (5a).
 *
 *   chase [-i MICROSECONDS between calls] [-c CALLS] [-s STEP] [-l LONGEST] [-m MIB]
 *
 * prints comma-separated values: for each length microseconds of virtual time per call, pause
 * included. */
#define _GNU_SOURCE
#include "measure.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct node {
  struct node *next;
} node;

/* All lists are stretches of one ring, and a call goes on where the last call ended. So memory that
 * a call has touched is not touched again soon. Every node has a page to itself. Therefore the ring
 * has no more nodes, which take 128 MiB of real memory. */
#define NODES 32768

FLICK_NXP __attribute__((noinline)) const node *chase(const node *at, uint64_t count) {
  while (count-- > 0)
    at = at->next;
  return at;
}

/* xorshift64*, Vigna 2016. */
static uint64_t random_state = 0x9e3779b97f4a7c15;
static uint64_t random_below(uint64_t bound) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return (uint64_t)((unsigned __int128)(random_state * 0x2545f4914f6cdd1d) * bound >> 64);
}

/* Memory of the NxP, of which only touched pages become real. Huge pages would make all of it real.
 */
static node *region(size_t size) {
  node *memory = flick_alloc(FLICK_MEM_NXP, size);
  if (!memory) {
    fprintf(stderr, "%s: %zu MiB of NxP-local memory: %s\n", program_invocation_short_name,
            size >> 20, strerror(errno));
    exit(1);
  }
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = ((uintptr_t)memory + page - 1) / page * page;
  uintptr_t last = ((uintptr_t)memory + size) / page * page;
  /* A kernel without huge pages refuses. */
  madvise((void *)first, last - first, MADV_NOHUGEPAGE);
  return memory;
}

/* A ring of NODES nodes, each at a place of its own among SLOTS, in the order in which they are
 * drawn. */
static const node *make_ring(node *slot, size_t slots) {
  node *first = NULL, *last = NULL;
  for (size_t i = 0; i < NODES; i++) {
    node *place;
    do
      place = &slot[random_below(slots)];
    while (place->next || place == last);
    if (last)
      last->next = place;
    else
      first = place;
    last = place;
  }
  last->next = first;
  return first;
}

int main(int argc, char **argv) {
  uint64_t interval = 0, calls = 32, step = 4, longest = 1024, mib = 4096;
  int option;
  while ((option = getopt(argc, argv, "i:c:s:l:m:")) != -1) {
    switch (option) {
    case 'i':
      interval = number("-i", optarg, 0, 999999);
      break;
    case 'c':
      calls = number("-c", optarg, 1, 1u << 20);
      break;
    case 's':
      step = number("-s", optarg, 1, 1u << 20);
      break;
    case 'l':
      longest = number("-l", optarg, 1, 1u << 20);
      break;
    case 'm':
      mib = number("-m", optarg, 1, 1u << 16);
      break;
    default:
      fprintf(stderr, "usage: %s [-i MICROSECONDS] [-c CALLS] [-s STEP] [-l LONGEST] [-m MIB]\n",
              program_invocation_short_name);
      return 2;
    }
  }
  now(); /* says at once that no platform is named */

  size_t size = (size_t)mib << 20;
  node *memory = region(size);
  /* A first call, unmeasured, fills the TLB. */
  const node *at = chase(make_ring(memory, size / sizeof(node)), longest);

  printf("interval_us,nodes,calls,migrating_us,staying_us\n");
  for (uint64_t length = step; length <= longest; length += step) {
    prediction begin = now();
    for (uint64_t call = 0; call < calls; call++) {
      at = chase(at, length);
      if (interval)
        usleep((useconds_t)interval);
    }
    prediction all = since(begin);
    printf("%llu,%llu,%llu,%.6f,%.6f\n", (unsigned long long)interval, (unsigned long long)length,
           (unsigned long long)calls, each_us(all.migrating_ps, calls),
           each_us(all.staying_ps, calls));
  }
  flick_free(memory);
}
