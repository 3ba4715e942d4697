// Eight groups of an activity of each of two tiles, which stop: all end with an error. Four such
// programs have all groups that there are, and the kernel does not take them one within the other.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUPS = 8, TILES = 2, FAULT = 5 };

static uint64_t good(int64_t outcome, const char *what) {
  if (outcome >= 0)
    return (uint64_t)outcome;
  printf("%s fails: %ld\n", what, (long)-outcome);
  exit(1);
}

int main(void) {
  uint64_t all[GROUPS][TILES], tiles[TILES], second, lost = 0;
  tiles[0] = good(flick_tile_find((uint64_t)"fft", 3, 0, &second), "tile_find");
  tiles[1] = good(flick_tile_find((uint64_t)"mul", 3, 0, &second), "tile_find");
  // Who has its turn when the tiles stop: the groups wait for it.
  for (int k = 0; k < TILES; k++) {
    uint64_t first = good(flick_activity_create(tiles[k]), "activity_create");
    good(flick_activity_start(first, FLICK_INPUT_PUSHED), "activity_start");
  }
  flick_thread_sleep(flick_program.frequency / 100);
  for (int n = 0; n < GROUPS; n++) {
    uint64_t group = good(flick_group_create(), "group_create");
    for (int k = 0; k < TILES; k++) {
      all[n][k] = good(flick_activity_create(tiles[k]), "activity_create");
      good(flick_group_join(group, all[n][k]), "group_join");
    }
    for (int k = 0; k < TILES; k++)
      good(flick_activity_start(all[n][k], FLICK_INPUT_PUSHED), "activity_start");
  }
  for (int n = 0; n < GROUPS; n++)
    for (int k = 0; k < TILES; k++) {
      uint64_t until = flick_time() + flick_program.frequency / 10;
      int64_t ended = flick_activity_wait(all[n][k], until, &second);
      lost += ended == FLICK_STATUS_FAILED && second == FAULT;
    }
  printf("activities that are lost: %lu\n", (unsigned long)lost);
  return 0;
}
