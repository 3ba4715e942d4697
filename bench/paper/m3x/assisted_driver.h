/* The assisted mode: a core drives chains of accelerators for each block. How it sends, answers and
 * copies is another matter: of assisted.c by calls of the kernel, and of assisted_bare.c by the
 * core's own bank of the unit. */
#ifndef ASSISTED_DRIVER_H
#define ASSISTED_DRIVER_H

#include "stages.h"
#include <stdint.h>

enum { NEXT_OUT = 3, COMMIT, END = 6 }; /* docs/accelerators.md, "The file protocol" */
/* In labels, beside the chain and the stage: it is the answer to a message of this program. */
enum { ANSWER = 16, MOST_WAITING = 3 };

/* A stage of a chain, as its driver sees it. */
struct stage {
  uint64_t sender;
  /* It can take so many bytes there. */
  uint64_t offset, room;
  /* Its result waits to be moved: the slot of the message that says so. */
  uint64_t slot;
  int has_result;
  /* Messages for it, of which the first one has no answer yet. */
  uint64_t messages[MOST_WAITING][3];
  int waiting;
};

/* A chain. */
struct driver {
  struct stage stages[STAGES];
  /* Bytes of the image that were loaded, and those that the last stage has written. */
  uint64_t read, written;
  int is_first[STAGES];
};

static struct driver drivers[MOST_CHAINS];
static uint64_t size;

/* What each program has of its own: a message to a stage, whose answer has a label; an answer; a
 * block of the input into the first stage; where the last stage puts its result, and what is done
 * with it then; and the end with an error. */
static void send_to(struct stage *stage, const uint64_t message[3], uint64_t label);
static void answer_with(uint64_t slot, const uint64_t answer[3]);
static void load_block(uint64_t number, uint64_t offset, uint64_t at, uint64_t bytes);
static uint64_t output_place(uint64_t at);
static void keep_block(uint64_t number, uint64_t at, uint64_t bytes);
_Noreturn static void fail(const char *what, uint64_t value);

static void send_first(uint64_t number, int n) {
  struct stage *stage = &drivers[number].stages[n];
  send_to(stage, stage->messages[0], number << 8 | ANSWER | (uint64_t)n);
}

static void tell(uint64_t number, int n, uint64_t operation, uint64_t argument) {
  struct stage *stage = &drivers[number].stages[n];
  if (stage->waiting == MOST_WAITING)
    fail("too many messages for stage ", (uint64_t)n);
  uint64_t *message = stage->messages[stage->waiting++];
  message[0] = operation;
  message[1] = argument;
  message[2] = 0;
  if (stage->waiting == 1)
    send_first(number, n);
}

static void answer(uint64_t slot, uint64_t offset, uint64_t length) {
  uint64_t words[3] = {0, offset, length};
  answer_with(slot, words);
}

/* The first stage has room: it gets a block of the file, or learns that there is none. */
static void load(uint64_t number) {
  struct stage *first = &drivers[number].stages[FFT];
  uint64_t at = drivers[number].read;
  if (at == size) {
    tell(number, FFT, COMMIT, 0);
    tell(number, FFT, END, 0);
  } else {
    load_block(number, first->offset, at, first->room);
    drivers[number].read += first->room;
    tell(number, FFT, NEXT_OUT, 0);
  }
  first->room = 0;
}

/* A result is moved if it has a place. */
static void move(uint64_t number, int n) {
  struct stage *stage = &drivers[number].stages[n];
  if (!stage->has_result)
    return;
  if (n == IFFT) {
    answer(stage->slot, output_place(drivers[number].written), BLOCK);
  } else {
    struct stage *next = stage + 1;
    if (!next->room)
      return;
    answer(stage->slot, next->offset, next->room);
    next->room = 0;
  }
  stage->has_result = 0;
}

/* A stage has moved its result, and has another one, or says that there is none. True: the chain
 * has ended. */
static int moved(uint64_t number, int n, const uint64_t request[WORDS], uint64_t slot) {
  struct stage *stage = &drivers[number].stages[n];
  int *is_first = &drivers[number].is_first[n], goes_on = request[0] == NEXT_OUT;
  if (!goes_on)
    answer(slot, 0, 0);
  if (n == IFFT) {
    uint64_t bytes = goes_on ? (*is_first ? 0 : BLOCK) : request[0] == COMMIT ? request[1] : 0;
    if (bytes)
      keep_block(number, drivers[number].written, bytes);
    drivers[number].written += bytes;
  } else if (!goes_on || !*is_first) {
    tell(number, n + 1, request[0], request[1]);
  }
  *is_first = 0;
  if (goes_on) {
    stage->slot = slot;
    stage->has_result = 1;
    move(number, n);
  }
  return n == IFFT && request[0] == END;
}

/* A stage has answered: it has room, if that was what it was told. */
static void answered(uint64_t number, int n, const uint64_t answer[WORDS]) {
  struct stage *stage = &drivers[number].stages[n];
  uint64_t operation = stage->messages[0][0];
  if (answer[0])
    fail("a stage answers error ", answer[0]);
  stage->waiting--;
  for (int next = 0; next < stage->waiting; next++)
    for (int word = 0; word < 3; word++)
      stage->messages[next][word] = stage->messages[next + 1][word];
  if (stage->waiting)
    send_first(number, n);
  if (operation != NEXT_OUT)
    return;
  stage->offset = answer[1];
  stage->room = answer[2];
  if (n == FFT)
    load(number);
  else
    move(number, n - 1);
}

/* Begins with a chain whose stages have been started. */
static void begin_chain(uint64_t number) {
  for (int n = IFFT; n >= FFT; n--) {
    drivers[number].is_first[n] = 1;
    tell(number, n, NEXT_OUT, 0);
  }
}

/* Deals with a message. True: a chain has ended. */
static int attend(const uint64_t message[WORDS], uint64_t slot, uint64_t label) {
  int n = (int)(label & 15);
  if (!(label & ANSWER))
    return moved(label >> 8, n, message, slot);
  answered(label >> 8, n, message);
  return 0;
}

#endif
