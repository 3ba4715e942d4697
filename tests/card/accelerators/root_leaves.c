// One program of the root takes all it can get and ends without giving it back. Another one, which
// waits for that, gets all of it.
#include <flick/card.h>
#include <stdio.h>
#include <string.h>

static uint64_t tile_of(const char *name) {
  uint64_t endpoints;
  return flick_tile_find((uint64_t)name, strlen(name), 0, &endpoints);
}

// So many things of each kind.
static void take(uint64_t *memory, uint64_t *gates, int64_t *activity) {
  uint64_t dram = tile_of("");
  *memory = *gates = 0;
  while (flick_tile_memory(dram, 16 << 20) >= 0)
    ++*memory;
  while (flick_gate_create() >= 0)
    ++*gates;
  *activity = flick_activity_create(tile_of("fft"));
  if (*activity >= 0)
    flick_activity_start(*activity, FLICK_INPUT_PUSHED);
}

int main(int argc, char **argv) {
  uint64_t memory, gates, tries = 0;
  int64_t activity;
  (void)argv;
  if (argc > 1) {
    take(&memory, &gates, &activity);
    // The other program sees it taken.
    flick_thread_sleep(flick_time() + flick_program.frequency / 100);
    return memory == 4 && gates > 8 && activity >= 0 ? 0 : 1;
  }
  uint64_t fft = tile_of("fft");
  while ((activity = flick_activity_create(fft)) != -FLICK_EBUSY && tries++ < 1000) {
    flick_capability_revoke(activity);
    flick_thread_sleep(flick_time() + flick_program.frequency / 100000);
  }
  int was_taken = tries < 1000;
  uint64_t endpoints, first = flick_tile_find(0, 0, 0, &endpoints);
  int64_t piece;
  while ((piece = flick_tile_memory(first, 64 << 10)) < 0)
    flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  flick_capability_revoke(piece);
  take(&memory, &gates, &activity);
  printf("taken by the other %d, memory %lu, gates %d, activity %d\n", was_taken,
         (unsigned long)memory, gates > 8, activity >= 0);
  return 0;
}
