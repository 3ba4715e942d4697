/* Functions with the mark FLICK_ON: a call is a request to an accelerator of requests. The
 * compiler's pass makes their bodies, which call __flick_on (docs/host-files.md, "Functions on
 * accelerators"). The accelerator has the arrays at the program's own addresses: its pager maps
 * pages of the process. */
#include "flick_abi.h"
#include "host_card.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  /* Endpoints of an activity of requests: its pager, and memory in which pages are. */
  PAGER = 10,
  PAGED = 11,
  ANSWERS = 1,
  FAULTS = 2,
  BAD_ADDRESS = 14,
  /* Microseconds of the card after which it is looked whether the tile answers. */
  LOOK = 100000,
};
#define HOST_END (1ul << 47)

struct array {
  char *at;
  uint64_t size;
};

struct request {
  const char *name;
  struct array arrays[FLICK_ON_ARRAYS], *given;
  uint64_t count;
  int64_t activity, gate, memory, sender;
};

static int fails(const struct request *request, const char *what, int64_t result) {
  int error = kernel_error(result);
  return why(error, "accelerator %s: %s: %s", request->name, what, strerror(error));
}

static void give_up(int64_t *capability) {
  if (*capability > 0)
    flick_capability_revoke(*capability);
  *capability = 0;
}

static void end_request(struct request *request) {
  give_up(&request->activity);
  give_up(&request->gate);
  give_up(&request->memory);
  for (uint64_t n = 0; n < request->count; n++)
    if (request->arrays[n].at != request->given[n].at)
      free(request->arrays[n].at);
}

/* An accelerator reads and writes whole lines. So an array that does not have its pages alone is a
   copy, as long as the request lasts. */
static int copy_arrays(struct request *request) {
  for (uint64_t n = 0; n < request->count; n++) {
    struct array given = request->given[n];
    request->arrays[n] = given;
    if (((uintptr_t)given.at | given.size) % FLICK_PAGE == 0)
      continue;
    uint64_t size = (given.size + FLICK_PAGE - 1) / FLICK_PAGE * FLICK_PAGE;
    char *copy = aligned_alloc(FLICK_PAGE, size ? size : FLICK_PAGE);
    if (!copy)
      return why(ENOMEM, "accelerator %s: %s", request->name, strerror(ENOMEM));
    memcpy(copy, given.at, given.size);
    request->arrays[n].at = copy;
  }
  return 0;
}

/* What has not changed may be constant. */
static void copy_back(const struct request *request) {
  for (uint64_t n = 0; n < request->count; n++) {
    struct array given = request->given[n];
    const char *copy = request->arrays[n].at;
    if (copy != given.at && memcmp(copy, given.at, given.size))
      memcpy(given.at, copy, given.size);
  }
}

/* Two arrays with bytes in common have to be at their own addresses. */
static bool have_common_bytes(const struct array *arrays, uint64_t count) {
  for (uint64_t n = 0; n < count; n++)
    for (uint64_t m = 0; m < n; m++)
      if (arrays[n].at < arrays[m].at + arrays[m].size &&
          arrays[m].at < arrays[n].at + arrays[n].size)
        return true;
  return false;
}

/* An activity of an accelerator of requests with this name, which may have its turns on any of
   them. FLICK_ON_BODY: there is none. */
static int find_accelerator(struct request *request) {
  for (uint64_t from = 0;;) {
    uint64_t endpoints, blocks;
    int64_t tile =
        flick_tile_find((uintptr_t)request->name, strlen(request->name), from, &endpoints);
    if (tile == -ENODEV || tile == -FLICK_ENOSYS) {
      why(ENODEV, "accelerator %s: there is no card with a root", request->name);
      return FLICK_ON_BODY;
    }
    if (tile < 0 && tile != -FLICK_ENOENT)
      return fails(request, "its tile", tile);
    if (tile < 0) {
      why(ENOENT, "the card has no accelerator of requests %s", request->name);
      return FLICK_ON_BODY;
    }
    from = tile + 1;
    if (flick_tile_block(tile, &blocks) >= 0)
      continue;
    request->activity = flick_activity_create(tile);
    if (request->activity < 0)
      return fails(request, "its activity", request->activity);
    flick_activity_move(request->activity, 1);
    return 0;
  }
}

static int set_up(struct request *request) {
  int64_t activity = request->activity;
  request->gate = flick_gate_create();
  if (request->gate < 0)
    return fails(request, "a gate", request->gate);
  request->memory = flick_host_memory(0, HOST_END, FLICK_READ | FLICK_WRITE);
  if (request->memory < 0)
    return fails(request, "memory of the program", request->memory);
  int64_t pager = flick_gate_sender(request->gate, FAULTS, 1), result = pager;
  if (pager >= 0)
    result = flick_activity_endpoint(activity, PAGER, pager);
  if (result >= 0)
    result = flick_activity_endpoint(activity, PAGED, request->memory);
  int64_t gate = result < 0 ? result : flick_activity_gate(activity);
  request->sender = gate < 0 ? gate : flick_gate_sender(gate, 0, 1);
  result =
      request->sender < 0 ? request->sender : flick_activity_start(activity, FLICK_INPUT_ASKED);
  return result < 0 ? fails(request, "its activity", result) : 0;
}

static int ask(struct request *request) {
  uint64_t words[4 + 2 * FLICK_ON_ARRAYS] = {0, 0, 1, request->count};
  for (uint64_t n = 0; n < request->count; n++) {
    words[4 + 2 * n] = (uintptr_t)request->arrays[n].at;
    words[5 + 2 * n] = request->arrays[n].size;
  }
  uint64_t size = 8 * (4 + 2 * request->count);
  int64_t result;
  /* A new activity gets its tile when the last one has ended. */
  while ((result = flick_gate_send(request->sender, (uintptr_t)words, size, request->gate,
                                   ANSWERS)) == -FLICK_EAGAIN)
    sched_yield();
  return result < 0 ? fails(request, "the request", result) : 0;
}

/* The page, if it is of an array. */
static int serve_fault(const struct request *request, uint64_t page, int64_t slot) {
  uint64_t answer[3] = {BAD_ADDRESS, FLICK_READ | FLICK_WRITE | PAGED << 16, page};
  for (uint64_t n = 0; n < request->count; n++) {
    uint64_t start = (uintptr_t)request->arrays[n].at;
    if (page + FLICK_PAGE > start && page < start + request->arrays[n].size)
      answer[0] = 0;
  }
  int64_t result = flick_gate_answer(request->gate, slot, (uintptr_t)answer, sizeof answer);
  return result < 0 && result != -FLICK_EOWNERDEAD ? fails(request, "an answer", result) : 0;
}

static int wait_for_answer(struct request *request) {
  for (;;) {
    uint64_t message[15], label, blocks;
    int64_t taken = flick_gate_receive(request->gate, (uintptr_t)message, LOOK, &label);
    if (taken == -FLICK_ETIMEDOUT) {
      int64_t state = flick_activity_state(request->activity, &blocks);
      if (state < 0)
        return fails(request, "its tile", state);
      continue;
    }
    if (taken < 0)
      return fails(request, "the gate", taken);
    if (label == FAULTS) {
      if (serve_fault(request, message[0] & -(uint64_t)FLICK_PAGE, taken & 0xff))
        return -1;
      continue;
    }
    if (!message[0])
      return 0;
    int error = message[0] < 4096 ? (int)message[0] : EIO;
    return error == EINVAL
               ? why(error,
                     "accelerator %s: the arrays are not those that it takes, by number and size",
                     request->name)
               : why(error, "accelerator %s: %s", request->name, strerror(error));
  }
}

static int run(struct request *request) {
  int found = find_accelerator(request);
  if (found)
    return found;
  bool is_common = have_common_bytes(request->given, request->count);
  memcpy(request->arrays, request->given, request->count * sizeof *request->given);
  if ((!is_common && copy_arrays(request)) || set_up(request) || ask(request) ||
      wait_for_answer(request))
    return -1;
  copy_back(request);
  return 0;
}

__attribute__((noreturn)) static void fail(const char *function) {
  char text[512];
  int size =
      snprintf(text, sizeof text,
               "flick: error: [FLK0513] %s: %s\n"
               "  help: look at the arrays and at the card's machine; let the function return "
               "int to get the error; see `flick explain FLK0513`\n",
               function, flick_error());
  _exit(write(2, text, size) < 0 ? 125 : 125);
}

/* From functions with the mark: FLICK_ON_BODY: the function's body is to be executed. Otherwise 0
   or an errno, which the function returns if it returns something. */
PUBLIC int __flick_on(const char *name, const char *function, unsigned flags, uint64_t count,
                      struct array *arrays) {
  struct request request = {.name = name, .given = arrays, .count = count};
  int before = errno, outcome = run(&request), error = outcome ? errno : 0;
  end_request(&request);
  errno = before;
  if (outcome == FLICK_ON_BODY && flags & FLICK_ON_HAS_BODY)
    return FLICK_ON_BODY;
  if (error && !(flags & FLICK_ON_RETURNS))
    fail(function);
  return error;
}
