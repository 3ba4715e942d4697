// A chase through NxP memory, for every shipped platform: prints how often the NxP is faster.
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

enum { LINE = 64, LINES = 1 << 19, STEPS = 20000 };

struct line {
  struct line *next;
  char rest[LINE - sizeof(struct line *)];
};

static FLICK_NXP __attribute__((noinline)) uint64_t chase(const struct line *at) {
  uint64_t sum = 0;
  for (int step = 0; step < STEPS; step++) {
    sum += (uintptr_t)at->next & 0xffff;
    at = at->next;
  }
  return sum;
}

int main(void) {
  struct line *all = flick_alloc(FLICK_MEM_NXP, sizeof *all * LINES);
  if (!all)
    return 1;
  // A step that is odd comes to all lines, and none is near the one before. No cache of a host
  // holds so many.
  const uint32_t step = 199933;
  uint32_t at = 0;
  for (int line = 0; line < LINES; line++) {
    uint32_t next = (at + step) % LINES;
    all[at].next = &all[next];
    at = next;
  }
  struct flick_prediction before, after;
  if (flick_predict(&before))
    return 1;
  uint64_t sum = chase(all);
  if (flick_predict(&after))
    return 1;
  double migrating = (double)(after.migrating_ps - before.migrating_ps);
  double staying = (double)(after.staying_ps - before.staying_ps);
  printf("%.2f %d\n", staying / migrating, sum != 0);
  return 0;
}
