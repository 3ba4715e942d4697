/* Accelerators as stages: an activity that reads and writes by itself. */
#include "shell.h"
#include <errno.h>
#include <fcntl.h>
#include <flick/files.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PART = 4 << 10, ENDED = 3, BROKEN_PIPE = 128 + 13 };

/* The outcome of a kernel call. */
static int64_t made(int64_t outcome, const char *what) {
  if (outcome < 0) {
    errno = flick_errno(outcome);
    fails(what);
  }
  return outcome;
}

static int64_t find(const char *name) {
  uint64_t endpoints;
  return flick_tile_find((uintptr_t)name, strlen(name), 0, &endpoints);
}

bool has_accelerator(const char *name) { return *name && find(name) >= 0; }

/* Fills the local memory behind the blocks with a file. */
static int load(uint64_t memory, uint64_t tile, const char *path) {
  uint64_t at;
  if (made(flick_tile_block(tile, &at), "tile_block") < 0)
    return -1;
  int file = open(path, O_RDONLY);
  if (file < 0)
    return fails(path);
  uint64_t part[PART / 8];
  ssize_t size;
  int status = 0;
  while (!status && (size = read(file, part, PART)) > 0) {
    status = made(flick_tile_store(memory, at, (uintptr_t)part, (uint64_t)size), path) < 0 ? -1 : 0;
    at += (uint64_t)size;
  }
  if (!status && size < 0)
    status = fails(path);
  close(file);
  return status;
}

int begin_activity(struct activity *activity, const struct stage *stage) {
  activity->name = stage->words[0];
  if (stage->count > 2) {
    complain("%s takes one file", activity->name);
    return -1;
  }
  activity->tile = (uint64_t)find(activity->name);
  int64_t number = made(flick_activity_create(activity->tile), activity->name);
  if (number < 0)
    return -1;
  activity->activity = (uint64_t)number;
  if (stage->count == 1)
    return 0;
  int64_t memory = made(flick_activity_memory(activity->activity), activity->name);
  return memory < 0 ? -1 : load((uint64_t)memory, activity->tile, stage->words[1]);
}

static int set_up(const struct activity *activity, uint64_t endpoint, uint64_t by) {
  return made(flick_activity_endpoint(activity->activity, endpoint, by), activity->name) < 0 ? -1
                                                                                             : 0;
}

/* Endpoints for the requests and the data of an open file. */
static int set_file(const struct activity *activity, int number, uint64_t requests, uint64_t data) {
  const struct flick_file *file = flick_file_of(number);
  if (!file) {
    complain("%s: its file is of no server under /srv", activity->name);
    return -1;
  }
  return set_up(activity, requests, file->requests) || set_up(activity, data, file->data) ? -1 : 0;
}

int set_input(const struct activity *activity, int number) {
  return set_file(activity, number, FLICK_INPUT_REQUESTS, FLICK_INPUT_DATA);
}

int set_output(const struct activity *activity, int number) {
  return set_file(activity, number, FLICK_OUTPUT_REQUESTS, FLICK_OUTPUT_DATA);
}

int chain(const struct activity *from, const struct activity *to) {
  uint64_t blocks;
  int64_t gate = made(flick_activity_gate(to->activity), to->name);
  int64_t memory = made(flick_activity_memory(to->activity), to->name);
  if (gate < 0 || memory < 0 || made(flick_tile_block(to->tile, &blocks), to->name) < 0)
    return -1;
  int64_t sender = made(flick_gate_sender((uint64_t)gate, 0, 1), to->name);
  int64_t part = made(flick_capability_narrow((uint64_t)memory, 0, blocks, FLICK_WRITE), to->name);
  if (sender < 0 || part < 0)
    return -1;
  return set_up(from, FLICK_OUTPUT_REQUESTS, (uint64_t)sender) ||
                 set_up(from, FLICK_OUTPUT_DATA, (uint64_t)part)
             ? -1
             : 0;
}

int start_activity(const struct activity *activity, bool is_pushed) {
  uint64_t input = is_pushed ? FLICK_INPUT_PUSHED : FLICK_INPUT_ASKED;
  return made(flick_activity_start(activity->activity, input), activity->name) < 0 ? -1 : 0;
}

int wait_for_activity(const struct activity *activity) {
  uint64_t fault;
  int64_t status = flick_activity_wait(activity->activity, FLICK_FOR_EVER, &fault);
  if (status == ENDED)
    return 0;
  // As in Unix, who reads may end before who writes.
  if (atomic_load(&activity->is_cut) || (status >= 0 && fault == EPIPE))
    return BROKEN_PIPE;
  if (status < 0) {
    made(status, activity->name);
    return 1;
  }
  complain("%s has failed: %s", activity->name, strerror((int)fault));
  return 1;
}

void end_activity(const struct activity *activity) { flick_capability_revoke(activity->activity); }
