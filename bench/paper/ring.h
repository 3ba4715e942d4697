/* The list of Figure 5, and the function on the NxP that follows it. A program includes this once.
 */
#ifndef PAPER_RING_H
#define PAPER_RING_H

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

#endif
