// What the programs of a tile have together: `quotas FILE` starts four of FILE on core0, which take
// all services, views and groups that they get. The root's tile has its own share.
#include <flick/programs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 3, CHILDREN = 4 };

static int64_t make(int kind, uint64_t gate, uint64_t memory, uint64_t who) {
  static int count;
  char name[32];
  switch (kind) {
  case 0:
    snprintf(name, sizeof name, "%lu.%d", (unsigned long)who, count++);
    return flick_service_create(gate, (uint64_t)name, strlen(name), 0);
  case 1:
    return flick_view_create(memory);
  default:
    return flick_group_create();
  }
}

static void take(uint64_t memory, uint64_t who, uint64_t counts[KINDS + 1]) {
  int64_t gate = flick_gate_create();
  for (int kind = 0; kind < KINDS; kind++)
    for (counts[kind] = 0; make(kind, gate, memory, who) >= 0;)
      counts[kind]++;
  counts[KINDS] = 1;
}

static int child(uint64_t memory, uint64_t who) {
  uint64_t counts[KINDS + 1];
  take(memory, who, counts);
  flick_tile_store(memory, 0, (uint64_t)counts, sizeof counts);
  for (;;)
    flick_thread_sleep(FLICK_FOR_EVER);
}

// Starts one, which takes what it gets.
static void begin(struct flick_placed *program, char *file, int n, uint64_t all[KINDS]) {
  uint64_t second, counts[KINDS + 1] = {0};
  int64_t memory = flick_tile_memory(flick_tile_find(0, 0, 0, &second), 4096);
  char number[24], who[24];
  if (flick_placed_create(program, "core0", false))
    perror("a program");
  snprintf(number, sizeof number, "%ld", (long)flick_placed_give(program, memory));
  snprintf(who, sizeof who, "%d", n);
  char *argv[] = {"child", number, who, NULL};
  if (flick_placed_start_file(program, file, argv, NULL))
    perror(file);
  while (!counts[KINDS]) {
    flick_thread_sleep(flick_time() + 1000);
    flick_tile_load(memory, 0, (uint64_t)counts, sizeof counts);
  }
  for (int kind = 0; kind < KINDS; kind++)
    all[kind] += counts[kind];
}

static void print(const char *who, const uint64_t all[]) {
  printf("%s: services %lu, views %lu, groups %lu\n", who, (unsigned long)all[0],
         (unsigned long)all[1], (unsigned long)all[2]);
}

int main(int argc, char **argv) {
  if (argc > 2)
    return child(strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0));
  struct flick_placed programs[CHILDREN];
  uint64_t second, all[KINDS] = {0}, again[KINDS] = {0}, own[KINDS + 1];
  for (int n = 0; n < CHILDREN; n++)
    begin(&programs[n], argv[1], n, all);
  print("a tile", all);
  take(flick_tile_memory(flick_tile_find(0, 0, 0, &second), 4096), CHILDREN, own);
  print("a program of the root's tile", own);
  for (int n = 0; n < CHILDREN; n++)
    flick_placed_end(&programs[n]);
  begin(&programs[0], argv[1], CHILDREN + 1, again);
  print("one behind them", again);
  return 0;
}
