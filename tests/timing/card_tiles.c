/* Functions on two tiles work with memory of each, of the host, and of the stack; and so does the
 * host: the virtual time of each in picoseconds. tests/timing/card_tiles.sh runs it on a card. */
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

#define NODES 4096
#define STEPS (4L * NODES)
#define ALONE __attribute__((noinline))

FLICK_NXP_DATA static uint64_t data_of_first[NODES];
FLICK_NXP_DATA_ON("compute") static uint64_t data_of_compute[NODES];

/* Each step is one load. */
__attribute__((always_inline)) static inline uint64_t chase(const volatile uint64_t *nodes,
                                                            long steps) {
  uint64_t at = 0;
  while (steps-- > 0)
    at = nodes[at];
  return at;
}

__attribute__((always_inline)) static inline uint64_t on_stack(const uint64_t *nodes, long steps) {
  volatile uint64_t here = (uintptr_t)nodes & 1;
  uint64_t sum = 0;
  while (steps-- > 0)
    sum += here;
  return sum;
}

FLICK_NXP_ON("storage") ALONE static uint64_t on_storage(const uint64_t *nodes, long steps) {
  return chase(nodes, steps);
}
FLICK_NXP_ON("compute") ALONE static uint64_t on_compute(const uint64_t *nodes, long steps) {
  return chase(nodes, steps);
}
ALONE static uint64_t on_host(const uint64_t *nodes, long steps) { return chase(nodes, steps); }
/* Half of the steps are another tile's. */
FLICK_NXP_ON("storage") ALONE static uint64_t on_both(const uint64_t *nodes, long steps) {
  return on_storage(nodes, steps / 2) + on_compute(nodes, steps / 2);
}
FLICK_NXP_ON("storage") ALONE static uint64_t stack_on_storage(const uint64_t *nodes, long steps) {
  return on_stack(nodes, steps);
}
FLICK_NXP_ON("compute") ALONE static uint64_t stack_on_compute(const uint64_t *nodes, long steps) {
  return on_stack(nodes, steps);
}

typedef uint64_t Function(const uint64_t *, long);

static uint64_t now(void) {
  struct flick_prediction prediction;
  return flick_predict(&prediction) == 0 ? prediction.migrating_ps : 0;
}

static uint64_t *filled(uint64_t *nodes) {
  for (uint64_t i = 0; nodes && i < NODES; i++)
    nodes[i] = (i * 1021 + 1) % NODES;
  return nodes;
}

/* Without what a call takes. */
static uint64_t sum;
static void show(const char *name, Function *function, const uint64_t *nodes) {
  sum += function(nodes, 100);
  uint64_t begin = now();
  sum += function(nodes, 100);
  uint64_t call = now() - begin;
  begin = now();
  sum += function(nodes, 100 + STEPS);
  printf("%s %llu\n", name, (unsigned long long)(now() - begin - call));
}

int main(void) {
  static uint64_t ordinary[NODES];
  uint64_t *storage = filled(flick_alloc_on("storage", NODES * sizeof *storage)),
           *compute = filled(flick_alloc_on("compute", NODES * sizeof *compute));
  filled(ordinary);
  filled(data_of_first);
  filled(data_of_compute);
  if (!storage || !compute)
    return 1;
  show("storage-own", on_storage, storage);
  show("storage-data", on_storage, data_of_first);
  show("storage-compute", on_storage, compute);
  show("storage-host", on_storage, ordinary);
  show("storage-stack", stack_on_storage, ordinary);
  show("compute-own", on_compute, compute);
  show("compute-data", on_compute, data_of_compute);
  show("compute-storage", on_compute, storage);
  show("compute-first", on_compute, data_of_first);
  show("compute-host", on_compute, ordinary);
  show("compute-stack", stack_on_compute, ordinary);
  show("both", on_both, storage);
  show("host-storage", on_host, storage);
  show("host-compute", on_host, compute);
  show("host-data", on_host, data_of_compute);
  return sum == UINT64_MAX;
}
