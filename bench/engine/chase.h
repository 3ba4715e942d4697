/* Pointer chasing: a ring of nodes of a cache line each, in random order. */
#ifndef CHASE_H
#define CHASE_H

#include "kernel.h"

typedef struct node {
  struct node *next;
  uint64_t value[7];
} node;

/* One ring through all nodes (Sattolo's shuffle), if there is none yet. */
static inline void make_ring(node *nodes, size_t count) {
  uint64_t random = 3;
  if (nodes->next)
    return;
  for (size_t i = 0; i < count; i++)
    nodes[i].value[0] = i;
  for (size_t i = count - 1; i > 0; i--) {
    size_t other = next_random(&random) % i;
    uint64_t kept = nodes[i].value[0];
    nodes[i].value[0] = nodes[other].value[0];
    nodes[other].value[0] = kept;
  }
  for (size_t i = 0; i < count; i++)
    nodes[i].next = &nodes[nodes[i].value[0]];
}

static inline uint64_t chase(const node *at, uint64_t steps) {
  uint64_t checksum = 0;
  for (; steps; steps--) {
    checksum += at->value[0];
    at = at->next;
  }
  return fold(checksum, at->value[0]);
}

#endif
