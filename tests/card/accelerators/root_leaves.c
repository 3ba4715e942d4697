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
static void take(uint64_t *memory, uint64_t *gates, uint64_t *activities) {
  uint64_t dram = tile_of("");
  int64_t activity;
  *memory = *gates = *activities = 0;
  while (flick_tile_memory(dram, 16 << 20) >= 0)
    ++*memory;
  while (flick_gate_create() >= 0)
    ++*gates;
  while (*activities < 10000 && (activity = flick_activity_create(tile_of("fft"))) >= 0) {
    flick_activity_start(activity, FLICK_INPUT_PUSHED);
    ++*activities;
  }
}

int main(int argc, char **argv) {
  uint64_t memory, gates, activities, endpoints, dram = flick_tile_find(0, 0, 0, &endpoints);
  (void)argv;
  if (argc > 1) {
    take(&memory, &gates, &activities);
    // The other program sees it taken.
    fclose(fopen("taken", "w"));
    flick_thread_sleep(flick_time() + flick_program.frequency / 100);
    return memory == 4 && gates > 8 && activities > 8 ? 0 : 1;
  }
  FILE *taken;
  while (!(taken = fopen("taken", "r")))
    flick_thread_sleep(flick_time() + flick_program.frequency / 10000);
  int is_taken = flick_tile_memory(dram, 4096) < 0 && flick_gate_create() < 0 &&
                 flick_activity_create(tile_of("fft")) < 0;
  int64_t piece;
  while ((piece = flick_tile_memory(dram, 64 << 10)) < 0)
    flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  flick_capability_revoke(piece);
  take(&memory, &gates, &activities);
  printf("taken by the other %d, memory %lu, gates %d, activities %d\n", is_taken,
         (unsigned long)memory, gates > 8, activities > 8);
  return 0;
}
