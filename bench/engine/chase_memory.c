/* Pointer chasing in memory: 64 MiB. */
#include "chase.h"

static node nodes[1 << 20];

uint64_t chase_memory(uint64_t work) {
  make_ring(nodes, sizeof nodes / sizeof *nodes);
  return chase(nodes, work);
}
