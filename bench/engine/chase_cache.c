/* Pointer chasing in a first-level cache: 16 KiB. */
#include "chase.h"

static node nodes[256];

uint64_t chase_cache(uint64_t work) {
  make_ring(nodes, sizeof nodes / sizeof *nodes);
  return chase(nodes, work);
}
