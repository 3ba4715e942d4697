/* Accelerators of streams, one behind the other, between two ends. An end that is the program's has
 * a pair of sockets: the thread that serves it is the server of the accelerator's file (docs/
 * accelerators.md, "The file protocol"). Data are in the process's memory, which the accelerator
 * reaches. */
#include "host_card.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  /* Bytes of input at a time. */
  PIECE = 64 << 10,
  /* What the kernel copies at once. */
  MOST_COPIED = 64 << 10,
  /* Output that waits for the program. */
  MOST_WAITING = 64 << 20,
  /* Microseconds of the card after which it is looked whether an accelerator has failed. */
  LOOK = 100000,
  /* The same while the program gives no input: milliseconds of the host before the first look, and
     so many looks, each behind twice the time. */
  FIRST_LOOK = 50,
  MOST_LOOKS = 6,
};

struct running {
  struct served *served;
  struct chain chain;
  int64_t activities[MOST_STAGES];
  /* Where requests of the first accelerator come, and of the last one. */
  int64_t reads, writes;
  /* Input, and behind it output. */
  char *data;
  int64_t memory[2];
  uint64_t block, granted;
  pthread_t other;
  /* Below is of both threads. */
  pthread_mutex_t lock;
  pthread_cond_t has_room;
  /* Wakes the thread that waits for input. */
  int bell;
  struct {
    char *bytes;
    size_t at, end, room;
  } out;
  /* The chain has written its last byte; the program wants no more, or something has failed. */
  bool has_ended, is_over;
  int error;
  char why[160];
};

static void give_up(int64_t *capability) {
  if (*capability > 0)
    flick_capability_revoke(*capability);
  *capability = 0;
}

static void end_chain(struct running *running) {
  for (int n = 0; n < running->chain.count; n++)
    give_up(&running->activities[n]);
  give_up(&running->reads);
  give_up(&running->writes);
  give_up(&running->memory[0]);
  give_up(&running->memory[1]);
  if (running->data)
    munmap(running->data, PIECE + running->block);
  if (running->bell >= 0)
    close(running->bell);
  free(running->out.bytes);
}

static int fails(const struct running *running, const char *what, int64_t result) {
  int error = kernel_error(result);
  return why(error, "%s: %s: %s", running->chain.path, what, strerror(error));
}

/* The argument lies behind the blocks of the local memory. */
static int load_argument(const struct running *running, int n, uint64_t blocks) {
  const struct stage *stage = &running->chain.stages[n];
  if (!stage->argument)
    return 0;
  int64_t memory = flick_activity_memory(running->activities[n]), result = 0;
  if (memory < 0)
    return fails(running, stage->name, memory);
  for (size_t at = 0; at < stage->argument_size && result >= 0; at += MOST_COPIED) {
    size_t part = stage->argument_size - at < MOST_COPIED ? stage->argument_size - at : MOST_COPIED;
    result = flick_tile_store(memory, blocks + at, (uintptr_t)stage->argument + at, part);
  }
  give_up(&memory);
  if (result == -FLICK_EINVAL)
    return why(EFBIG, "%s: the argument of %s is larger than its memory", running->chain.path,
               stage->name);
  return result < 0 ? fails(running, stage->name, result) : 0;
}

static int connect_endpoint(const struct running *running, int n, uint64_t endpoint, int64_t to) {
  int64_t result = to < 0 ? to : flick_activity_endpoint(running->activities[n], endpoint, to);
  return result < 0 ? fails(running, running->chain.stages[n].name, result) : 0;
}

/* Stage `n` writes into the memory of the next one. */
static int connect_next(struct running *running, int n, uint64_t blocks) {
  int64_t gate = flick_activity_gate(running->activities[n + 1]);
  int64_t memory = flick_activity_memory(running->activities[n + 1]);
  if (gate < 0 || memory < 0)
    return fails(running, "a stage", gate < 0 ? gate : memory);
  return connect_endpoint(running, n, FLICK_OUTPUT_REQUESTS, flick_gate_sender(gate, 0, 1)) ||
         connect_endpoint(running, n, FLICK_OUTPUT_DATA,
                          flick_capability_narrow(memory, 0, blocks, FLICK_WRITE));
}

static int connect_end(struct running *running, int n, bool is_input) {
  struct place *place = is_input ? &running->chain.from : &running->chain.to;
  uint64_t requests = is_input ? FLICK_INPUT_REQUESTS : FLICK_OUTPUT_REQUESTS;
  uint64_t data = is_input ? FLICK_INPUT_DATA : FLICK_OUTPUT_DATA;
  if (place->is_on_card)
    return connect_endpoint(running, n, requests, place->file.requests) ||
           connect_endpoint(running, n, data, place->file.data);
  int64_t *gate = is_input ? &running->reads : &running->writes;
  *gate = flick_gate_create();
  if (*gate < 0)
    return fails(running, "a gate", *gate);
  char *start = running->data + (is_input ? 0 : PIECE);
  int64_t *memory = &running->memory[!is_input];
  *memory = flick_host_memory((uintptr_t)start, is_input ? PIECE : running->block,
                              is_input ? FLICK_READ : FLICK_WRITE);
  if (*memory < 0)
    return fails(running, "memory of the program", *memory);
  return connect_endpoint(running, n, requests, flick_gate_sender(*gate, 0, 1)) ||
         connect_endpoint(running, n, data, *memory);
}

static int set_up(struct running *running) {
  struct chain *chain = &running->chain;
  uint64_t blocks[MOST_STAGES];
  int last = chain->count - 1;
  for (int n = 0; n < chain->count; n++) {
    const char *name = chain->stages[n].name;
    int64_t tile = find_tile(chain->path, name);
    if (tile < 0)
      return -1;
    int64_t block = flick_tile_block(tile, &blocks[n]);
    if (block < 0)
      return why(EINVAL, "%s: %s is no accelerator of streams (FLICK_ON has others)", chain->path,
                 name);
    running->block = block;
    running->activities[n] = flick_activity_create(tile);
    if (running->activities[n] < 0)
      return fails(running, name, running->activities[n]);
  }
  running->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (running->bell < 0)
    return why(errno, "%s: %s", chain->path, strerror(errno));
  char *data = mmap(NULL, PIECE + running->block, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return why(ENOMEM, "%s: %s", chain->path, strerror(ENOMEM));
  running->data = data;
  for (int n = 0; n < chain->count; n++)
    if (load_argument(running, n, blocks[n]) ||
        (n < last && connect_next(running, n, blocks[n + 1])))
      return -1;
  if (connect_end(running, 0, true) || connect_end(running, last, false))
    return -1;
  for (int n = last; n >= 0; n--) {
    uint64_t input = n ? FLICK_INPUT_PUSHED : FLICK_INPUT_ASKED;
    int64_t result = flick_activity_start(running->activities[n], input);
    if (result < 0)
      return fails(running, chain->stages[n].name, result);
  }
  return 0;
}

/* Something has failed, or the program wants no more (0): the threads end. */
static void stop(struct running *running, int error) {
  pthread_mutex_lock(&running->lock);
  if (!running->is_over && error) {
    running->error = error;
    snprintf(running->why, sizeof running->why, "%s", flick_error());
  }
  running->is_over = true;
  pthread_cond_broadcast(&running->has_room);
  pthread_mutex_unlock(&running->lock);
  /* Who waits there is told. */
  int64_t gates[] = {running->reads, running->writes};
  give_up(&gates[0]);
  give_up(&gates[1]);
  eventfd_write(running->bell, 1);
  shutdown(running->served->end, SHUT_RDWR);
}

static bool is_over(struct running *running) {
  pthread_mutex_lock(&running->lock);
  bool over = running->is_over;
  pthread_mutex_unlock(&running->lock);
  return over;
}

/* Whether an accelerator has failed, or the last one has ended. A tile that does not answer has
   failed. */
static int check(struct running *running) {
  int last = running->chain.count - 1, failed = -1;
  uint64_t faults[MOST_STAGES] = {0}, blocks;
  for (int n = 0; n <= last; n++) {
    const char *name = running->chain.stages[n].name;
    int64_t status = flick_activity_wait(running->activities[n], 0, &faults[n]);
    if (status == FLICK_STATUS_FAILED) {
      /* Error 4 is that of one whose neighbour has failed. */
      if (failed < 0 || faults[failed] == 4)
        failed = n;
      continue;
    }
    if (status == -FLICK_ETIMEDOUT)
      status = flick_activity_state(running->activities[n], &blocks);
    if (status < 0)
      return fails(running, name, status);
    if (n == last && status == FLICK_STATUS_ENDED && running->chain.to.is_on_card)
      running->has_ended = true;
  }
  if (failed < 0)
    return 0;
  uint64_t fault = faults[failed];
  return why(EIO, "%s: %s has failed: %s", running->chain.path, running->chain.stages[failed].name,
             strerror(fault && fault < 4096 ? (int)fault : EIO));
}

/* The accelerators do not do anything for the program now. They may wait for another one of its
 * threads. */
static int look(struct running *running, int *times) {
  if (check(running))
    return -1;
  if (!running->has_ended)
    usleep(1000 << *times);
  *times += *times < 6;
  return 0;
}

static int answer(struct running *running, int64_t gate, int64_t slot, uint64_t length) {
  uint64_t words[3] = {0, 0, length};
  int64_t result;
  while ((result = flick_gate_answer(gate, slot, (uintptr_t)words, sizeof words)) == -FLICK_EAGAIN)
    ;
  return result < 0 ? fails(running, "an answer", result) : 0;
}

/* Output that the program has not taken. The lock is held. */
static size_t waiting(const struct running *running) { return running->out.end - running->out.at; }

/* Gives the program what it takes now. The lock is held. False: it wants no more. */
static bool give(struct running *running) {
  while (waiting(running)) {
    ssize_t given = send(running->served->end, running->out.bytes + running->out.at,
                         waiting(running), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (given < 0 && errno == EINTR)
      continue;
    if (given < 0)
      return errno == EAGAIN;
    running->out.at += given;
    pthread_cond_broadcast(&running->has_room);
  }
  running->out.at = running->out.end = 0;
  return true;
}

/* Puts output behind that. */
static int keep(struct running *running, uint64_t size) {
  if (size > running->granted)
    return why(EPROTO, "%s: more output than was granted", running->chain.path);
  running->granted = 0;
  pthread_mutex_lock(&running->lock);
  while (waiting(running) > MOST_WAITING && !running->is_over)
    pthread_cond_wait(&running->has_room, &running->lock);
  /* What the program has taken makes room when it is more than what it has not. */
  size_t left = waiting(running);
  if (running->out.at > left) {
    memmove(running->out.bytes, running->out.bytes + running->out.at, left);
    running->out.at = 0;
    running->out.end = left;
  }
  size_t end = running->out.end + size;
  if (end > running->out.room) {
    size_t room = 2 * end + PIECE;
    char *bytes = realloc(running->out.bytes, room);
    if (!bytes) {
      pthread_mutex_unlock(&running->lock);
      return why(ENOMEM, "%s: %s", running->chain.path, strerror(ENOMEM));
    }
    running->out.bytes = bytes;
    running->out.room = room;
  }
  memcpy(running->out.bytes + running->out.end, running->data + PIECE, size);
  running->out.end = end;
  bool is_taken = give(running), is_left = waiting(running);
  pthread_mutex_unlock(&running->lock);
  if (is_left)
    eventfd_write(running->bell, 1);
  return is_taken ? 0 : why(EPIPE, "%s: the program wants no more", running->chain.path);
}

/* The server of the last accelerator. */
static int serve_output(struct running *running) {
  for (;;) {
    uint64_t request[15], label;
    int64_t taken = flick_gate_receive(running->writes, (uintptr_t)request, FLICK_FOR_EVER, &label);
    if (taken < 0)
      return fails(running, "the gate", taken);
    int64_t slot = taken & 0xff;
    uint64_t size = 0;
    switch (request[0]) {
    case FLICK_FILE_NEXT_OUT:
      if (keep(running, running->granted))
        return -1;
      /* No more than a block: it is seen when all of it was written. */
      size = running->granted = running->block;
      break;
    case FLICK_FILE_COMMIT:
      if (keep(running, request[1]))
        return -1;
      break;
    case FLICK_FILE_END:
      pthread_mutex_lock(&running->lock);
      running->has_ended = true;
      pthread_mutex_unlock(&running->lock);
      return answer(running, running->writes, slot, 0);
    default:
      return why(EPROTO, "%s: an unknown request", running->chain.path);
    }
    if (answer(running, running->writes, slot, size))
      return -1;
  }
}

static void *serve_output_alone(void *argument) {
  struct running *running = argument;
  if (serve_output(running))
    stop(running, errno == EPIPE ? 0 : errno);
  else
    eventfd_write(running->bell, 1);
  return NULL;
}

/* Waits for the program: for input, if it is wanted, and until it takes output. True: there is
   input, or its end. */
static bool wait_for_program(struct running *running, bool wants_input, int time) {
  struct pollfd all[] = {{running->served->end, wants_input ? POLLIN : 0, 0},
                         {running->bell, POLLIN, 0}};
  eventfd_t rings;
  pthread_mutex_lock(&running->lock);
  if (waiting(running))
    all[0].events |= POLLOUT;
  pthread_mutex_unlock(&running->lock);
  poll(all, 2, time);
  eventfd_read(running->bell, &rings);
  pthread_mutex_lock(&running->lock);
  bool is_taken = give(running);
  pthread_mutex_unlock(&running->lock);
  if (!is_taken)
    stop(running, 0);
  return all[0].revents & (POLLIN | POLLHUP | POLLERR);
}

/* The server of the first accelerator, up to the end of input. */
static int serve_input(struct running *running) {
  for (int times = 0; !is_over(running);) {
    uint64_t request[15], label;
    int64_t taken = flick_gate_receive(running->reads, (uintptr_t)request, LOOK, &label);
    if (taken == -FLICK_ETIMEDOUT) {
      if (look(running, &times))
        return -1;
      wait_for_program(running, false, 0);
      continue;
    }
    if (taken < 0)
      return fails(running, "the gate", taken);
    if (request[0] != FLICK_FILE_NEXT_IN)
      return why(EPROTO, "%s: an unknown request", running->chain.path);
    ssize_t size = -1;
    for (int looks = 0; size < 0 && !is_over(running);) {
      /* An accelerator behind the first one may have failed with what it has. */
      bool is_last = looks == MOST_LOOKS;
      if (!wait_for_program(running, true, is_last ? -1 : FIRST_LOOK << looks)) {
        looks += !is_last;
        if (!is_last && check(running))
          return -1;
        continue;
      }
      size = recv(running->served->end, running->data, PIECE, MSG_DONTWAIT);
      if (size < 0 && errno != EINTR && errno != EAGAIN)
        size = 0;
    }
    if (size >= 0 && answer(running, running->reads, taken & 0xff, size))
      return -1;
    times = 0;
    if (size == 0)
      return 0;
  }
  return 0;
}

/* Behind the end of input: the program takes the rest of the output. */
static int finish(struct running *running) {
  int last = running->chain.count - 1;
  for (int times = 0;;) {
    pthread_mutex_lock(&running->lock);
    bool is_done = running->is_over || (running->has_ended && !waiting(running));
    bool waits = running->has_ended || waiting(running);
    pthread_mutex_unlock(&running->lock);
    if (is_done)
      return 0;
    uint64_t fault;
    if (waits)
      wait_for_program(running, false, -1);
    else if (flick_activity_wait(running->activities[last], LOOK, &fault) != FLICK_STATUS_ENDED ||
             running->chain.to.is_on_card) {
      /* Who has closed the number wants no output. */
      if (!running->chain.to.is_on_card && wait_for_program(running, false, 0))
        stop(running, 0);
      if (look(running, &times))
        return -1;
    } else {
      /* The other thread has its last request soon. */
      wait_for_program(running, false, 1);
    }
  }
}

static void *serve(void *argument) {
  struct running *running = argument;
  const struct chain *chain = &running->chain;
  bool has_other = !chain->to.is_on_card;
  if (has_other) {
    int error = pthread_create(&running->other, NULL, serve_output_alone, running);
    has_other = !error;
    if (error)
      stop(running, why(error, "%s: no thread: %s", chain->path, strerror(error)) ? error : 0);
  }
  if ((!chain->from.is_on_card && serve_input(running)) || finish(running))
    stop(running, errno);
  if (has_other)
    pthread_join(running->other, NULL);
  int error = running->error;
  end_chain(running);
  free_arguments(&running->chain);
  if (error)
    why(error, "%s", running->why);
  if (leave_place(&running->chain.from) && !error)
    error = errno;
  if (leave_place(&running->chain.to) && !error)
    error = errno;
  end_serving(running->served, error);
  pthread_mutex_destroy(&running->lock);
  pthread_cond_destroy(&running->has_room);
  free(running);
  return NULL;
}

/* The capabilities of a chain do not change while it runs. */
static void forget(void *argument) {
  struct running *running = argument;
  for (int n = 0; n < running->chain.count; n++)
    give_up(&running->activities[n]);
  give_up(&running->reads);
  give_up(&running->writes);
  if (running->chain.from.is_on_card)
    flick_capability_revoke(running->chain.from.files.session);
  if (running->chain.to.is_on_card)
    flick_capability_revoke(running->chain.to.files.session);
}

int start_chain(struct chain *chain, int flags) {
  struct running *running = calloc(1, sizeof *running);
  struct served *served = malloc(sizeof *served);
  if (!running || !served) {
    free(running);
    free(served);
    return why(ENOMEM, "%s: %s", chain->path, strerror(ENOMEM));
  }
  running->chain = *chain;
  /* The sessions are here from now on. */
  running->chain.from.file.files = &running->chain.from.files;
  running->chain.to.file.files = &running->chain.to.files;
  running->served = served;
  running->bell = -1;
  pthread_mutex_init(&running->lock, NULL);
  pthread_cond_init(&running->has_room, NULL);
  int number = -1;
  if (!set_up(running) && (number = make_ends(served, chain->path, flags)) >= 0 &&
      !start_serving(served, serve, forget, running))
    return number;
  int error = errno;
  end_chain(running);
  free(running);
  free(served);
  errno = error;
  return -1;
}
