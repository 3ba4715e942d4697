// Takes requests, hands them to the servers, and keeps those that must wait.
//
//   servers COUNT PROGRAM ARGUMENT... COUNT PROGRAM ARGUMENT...
//
// starts programs, each with the words that its count says. The machine ends when all of them have
// ended, with the status of the first.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "servers.h"

// The servers go in front of programs that compute.
#define PRIORITY 2
// The status of a machine whose program does not start; the kernel has the same one.
#define NO_PROGRAM 71
// Memory that is left to others, in pages.
#define LEFT_PAGES 32

struct waiting {
  struct waiting *next;
  struct program *program;
  struct card_request request;
};

static struct waiting *all_waiting;
static bool is_changed;
static uint64_t own_number;

void note_change(void) { is_changed = true; }

bool memory_is_left(uint64_t size) {
  uint64_t all;
  int64_t pages = flick_memory_free(&all);
  return pages >= 0 && size / FLICK_PAGE + LEFT_PAGES <= (uint64_t)pages;
}

const char *name_of(const struct card_request *request) {
  bool is_name = request->name[0] && memchr(request->name, 0, NAME_SIZE);
  return is_name ? request->name : NULL;
}

int64_t reply_of(int64_t result) { return result < 0 ? -flick_errno(result) : result; }

static int64_t execute(struct program *program, const struct card_request *request,
                       struct card_reply *reply) {
  switch (request->operation) {
  case NAME_REGISTER:
  case NAME_LOOK_UP:
  case NAME_REMOVE:
    return name_server(program, request, reply);
  case MEMORY_CREATE:
  case MEMORY_MAP:
  case MEMORY_UNMAP:
  case MEMORY_REMOVE:
    return memory_server(program, request, reply);
  case PROCESS_SPAWN:
  case PROCESS_WAIT:
  case PROCESS_KILL:
    return spawn_server(program, request, reply);
  }
  return file_server(program, request);
}

// The time at which a request that waits fails.
static uint64_t deadline(const struct card_request *request) {
  switch (request->operation) {
  case NAME_LOOK_UP:
  case MEMORY_MAP:
    return request->arguments[0];
  }
  return FLICK_FOR_EVER;
}

// It waits for nobody: a program has fewer requests under way than its mailbox has room for.
static void send_reply(uint64_t tile, uint16_t port, uint32_t token, int64_t result,
                       struct card_reply *reply) {
  reply->token = token;
  reply->result = result;
  flick_mailbox_send(tile, port, (uintptr_t)reply, 0);
}

// Executes a request, and answers it if it need not wait.
static bool answer(struct program *program, const struct card_request *request) {
  struct card_reply reply = {0};
  int64_t result = execute(program, request, &reply);
  if (result == MUST_WAIT && deadline(request) <= flick_time())
    result = -ETIMEDOUT;
  if (result == MUST_WAIT)
    return false;
  send_reply(flick_program.tile, program->port, request->token, result, &reply);
  return true;
}

static void keep(struct program *program, const struct card_request *request) {
  struct waiting *waiting =
      program->waiting < MOST_WAITING && memory_is_left(0) ? malloc(sizeof *waiting) : NULL;
  if (!waiting) {
    struct card_reply reply = {0};
    send_reply(flick_program.tile, program->port, request->token, -EAGAIN, &reply);
    return;
  }
  program->waiting++;
  *waiting = (struct waiting){.program = program, .request = *request};
  // Who came first is served first.
  struct waiting **end = &all_waiting;
  while (*end)
    end = &(*end)->next;
  *end = waiting;
}

static void drop(struct waiting **at) {
  struct waiting *waiting = *at;
  *at = waiting->next;
  waiting->program->waiting--;
  free(waiting);
}

void end_requests(struct program *program) {
  for (struct waiting **at = &all_waiting; *at;)
    if ((*at)->program == program)
      drop(at);
    else
      at = &(*at)->next;
}

static void retry(void) {
  for (struct waiting **at = &all_waiting; *at;)
    if (answer((*at)->program, &(*at)->request))
      drop(at);
    else
      at = &(*at)->next;
}

static uint64_t next_deadline(void) {
  uint64_t next = FLICK_FOR_EVER;
  for (const struct waiting *waiting = all_waiting; waiting; waiting = waiting->next)
    if (deadline(&waiting->request) < next)
      next = deadline(&waiting->request);
  return next;
}

static bool is_others(uint16_t port, const struct program *program) {
  for (const struct program *other = programs(); other; other = other->next)
    if (other != program && !other->is_over && other->port == port)
      return true;
  return false;
}

// A program's first request says where all its replies go.
static bool has_port(struct program *program, uint16_t port) {
  if (!program->port && port >= FIRST_REPLY_PORT && port < SERVER_PORT && !is_others(port, program))
    program->port = port;
  return program->port;
}

static void from_stranger(uint64_t from, const struct card_request *request) {
  struct card_reply reply = {0};
  uint64_t tile = from >> 32;
  if (tile != flick_program.tile || !is_others(request->port, NULL))
    send_reply(tile, request->port, request->token, -EPERM, &reply);
}

static void take(uint64_t from, const struct card_request *request) {
  if (from == own_number) {
    if (request->operation == CHILD_ENDED)
      child_ended(request->arguments[0], request->arguments[1]);
    else
      take_input(request->arguments[0]);
    return;
  }
  bool is_here = from >> 32 == flick_program.tile;
  struct program *program = is_here ? program_of((uint32_t)from) : NULL;
  if (!program)
    from_stranger(from, request);
  else if (has_port(program, request->port) && !answer(program, request))
    keep(program, request);
}

static void start_all(char **words) {
  for (bool is_first = true; *words; is_first = false) {
    unsigned count = atoi(*words++);
    unsigned there = 0;
    while (there < count && words[there])
      there++;
    int64_t error = there ? start_given(words, there, is_first) : -EINVAL;
    if (error < 0) {
      fprintf(stderr, "servers: the program %s does not start: %s\n", there ? words[0] : "",
              strerror(-error));
      flick_process_end(0, NO_PROGRAM);
    }
    words += there;
  }
}

int main(int count, char **words) {
  if (count < 2)
    return NO_PROGRAM;
  uint64_t parent;
  own_number = flick_program.tile << 32 | flick_process_self(&parent);
  flick_thread_priority(flick_thread_self(), PRIORITY);
  if (flick_mailbox_create(SERVER_PORT) < 0)
    return NO_PROGRAM;
  pthread_t thread;
  if (pthread_create(&thread, NULL, await_children, NULL) ||
      pthread_create(&thread, NULL, read_console, NULL))
    return NO_PROGRAM;
  start_all(words + 1);
  for (;;) {
    struct card_request request;
    uint64_t from, until = next_deadline();
    int64_t result = flick_mailbox_receive(SERVER_PORT, (uintptr_t)&request, until, &from);
    if (result == 0)
      take(from, &request);
    is_changed |= flick_time() >= until;
    while (is_changed) {
      is_changed = false;
      retry();
    }
  }
}
