/* Calls of an NxP function that does nothing, of one that calls the host, and of one that works:
 * the virtual time of each in picoseconds. tests/timing/card.sh runs it on a card. */
#include <flick.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define CALLS 200
#define NODES 4096

/* The empty statement keeps the optimiser from removing calls. */
FLICK_NXP __attribute__((noinline)) static void nothing(void) { __asm__ volatile(""); }
FLICK_HOST __attribute__((noinline)) void nothing_on_host(void) { __asm__ volatile(""); }
FLICK_NXP __attribute__((noinline)) static void calls_host(void) {
  nothing_on_host();
  __asm__ volatile("");
}
FLICK_NXP __attribute__((noinline)) static uint64_t works(const uint64_t *nodes, uint64_t steps) {
  uint64_t at = 0;
  while (steps-- > 0)
    at = nodes[at];
  return at;
}

static void *works_too(void *nodes) {
  works(nodes, NODES);
  return NULL;
}

static uint64_t now(void) {
  struct flick_prediction prediction;
  if (flick_predict(&prediction) != 0)
    return 0;
  return prediction.migrating_ps;
}

int main(void) {
  uint64_t *nodes = flick_alloc(FLICK_MEM_NXP, NODES * sizeof *nodes);
  if (!nodes)
    return 1;
  for (uint64_t i = 0; i < NODES; i++)
    nodes[i] = (i * 1021 + 1) % NODES;
  /* Caches, TLBs and the kernel's records of the thread are filled. */
  for (int i = 0; i < CALLS; i++) {
    nothing();
    calls_host();
    works(nodes, NODES);
  }
  uint64_t begin = now();
  for (int i = 0; i < CALLS; i++)
    nothing();
  uint64_t null = now() - begin;
  begin = now();
  for (int i = 0; i < CALLS; i++)
    calls_host();
  uint64_t both = now() - begin;
  begin = now();
  uint64_t at = works(nodes, 100);
  uint64_t short_work = now() - begin;
  begin = now();
  at += works(nodes, 100 + 8 * NODES);
  uint64_t work = now() - begin - short_work;
  /* What a thread does is a part of the time without migration, too. */
  pthread_t thread;
  if (pthread_create(&thread, NULL, works_too, nodes) != 0 || pthread_join(thread, NULL) != 0)
    return 1;
  struct flick_prediction end;
  if (flick_predict(&end) != 0)
    return 1;
  printf("staying %llu\n", (unsigned long long)end.staying_ps);
  printf("null %llu\nnested %llu\nwork %llu\n", (unsigned long long)null,
         (unsigned long long)(both - null), (unsigned long long)work);
  flick_free(nodes);
  return at == UINT64_MAX;
}
