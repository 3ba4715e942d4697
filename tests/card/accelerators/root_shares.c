// Many activities share some accelerators, and each has work without end: each gets its share of
// the time. Arguments: activities, milliseconds.
#include <flick/card.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 256 << 10, MOST = 2000, WRITES = 1 << 20, SERVERS = 2 };

static uint64_t activities[MOST], blocks[MOST];
static uint64_t gate;

// A call that has to succeed.
static uint64_t good(int64_t outcome, const char *what) {
  if (outcome < 0) {
    printf("%s fails: %s\n", what, strerror(flick_errno(outcome)));
    exit(1);
  }
  return (uint64_t)outcome;
}

// Whoever asks gets the same piece again.
static void *serve(void *unused) {
  for (;;) {
    uint64_t request[15], label, answer[3] = {0, 0, PIECE};
    int64_t taken = flick_gate_receive(gate, (uint64_t)request, FLICK_FOR_EVER, &label);
    if (taken < 0)
      return unused;
    flick_gate_answer(gate, taken & 0xff, (uint64_t)answer, sizeof answer);
  }
}

static void connect(uint64_t of, uint64_t endpoint, uint64_t to) {
  good(flick_activity_endpoint(of, endpoint, to), "activity_endpoint");
}

int main(int count, char **arguments) {
  unsigned number = count > 1 ? (unsigned)atoi(arguments[1]) : 64;
  useconds_t time = count > 2 ? (useconds_t)atoi(arguments[2]) : 20;
  uint64_t all, free_before = good(flick_memory_free(&all), "memory_free");
  uint64_t endpoints, tile = 0;
  uint64_t dram = good(flick_tile_find(0, 0, 0, &endpoints), "tile_find");
  uint64_t from = good(flick_tile_memory(dram, PIECE), "tile_memory");
  uint64_t to = good(flick_tile_memory(dram, PIECE), "tile_memory");
  gate = good(flick_gate_create(), "gate_create");
  uint64_t reads = good(flick_gate_sender(gate, 0, 1), "gate_sender");
  uint64_t writes = good(flick_gate_sender(gate, WRITES, 1), "gate_sender");
  pthread_t server;
  pthread_create(&server, 0, serve, 0);
  for (unsigned n = 0; n < number; n++) {
    int64_t next = flick_tile_find((uint64_t)"fft", 3, tile + 1, &endpoints);
    if (next < 0)
      next = good(flick_tile_find((uint64_t)"fft", 3, 0, &endpoints), "tile_find");
    tile = (uint64_t)next;
    activities[n] = good(flick_activity_create(tile), "activity_create");
    connect(activities[n], FLICK_INPUT_REQUESTS, reads);
    connect(activities[n], FLICK_INPUT_DATA, from);
    connect(activities[n], FLICK_OUTPUT_REQUESTS, writes);
    connect(activities[n], FLICK_OUTPUT_DATA, to);
  }
  for (unsigned n = 0; n < number; n++)
    good(flick_activity_start(activities[n], FLICK_INPUT_ASKED), "activity_start");
  usleep(time * 1000);
  uint64_t forwarded, turns = good(flick_accelerator_turns(&forwarded), "accelerator_turns");
  uint64_t sum = 0, least = UINT64_MAX, most = 0;
  for (unsigned n = 0; n < number; n++) {
    good(flick_activity_state(activities[n], &blocks[n]), "activity_state");
    sum += blocks[n];
    least = blocks[n] < least ? blocks[n] : least;
    most = blocks[n] > most ? blocks[n] : most;
  }
  uint64_t mean = sum / number;
  printf("%s\n", least * 10 >= mean * 9 && most * 10 <= mean * 11 ? "each has its share"
                                                                  : "shares are unequal");
  if (count > 3)
    printf("%u activities: %lu to %lu blocks, %lu on average; %lu turns\n", number,
           (unsigned long)least, (unsigned long)most, (unsigned long)mean, (unsigned long)turns);
  for (unsigned n = 0; n < number; n++)
    good(flick_capability_revoke(activities[n]), "capability_revoke");
  good(flick_capability_revoke(gate), "capability_revoke");
  pthread_join(server, 0);
  uint64_t free_after = good(flick_memory_free(&all), "memory_free");
  printf("%s\n", free_after + 16 >= free_before ? "memory is free again" : "memory is lost");
  return 0;
}
