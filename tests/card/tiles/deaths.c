// Who waits for a program of another tile that ends, or for a tile that stops: `deaths serve` is a
// server, `deaths ask N` its client, whose last message is N, and `deaths wait` waits for an
// accelerator that does nothing. `deaths start FILE` starts FILE on core0, and waits. `deaths last`
// ends behind all others.
#include <errno.h>
#include <flick/programs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ECHO = 1, WAIT, END };

static int serve(void) {
  uint64_t message[15], label, answer[2] = {0};
  uint64_t gate = flick_gate_create();
  flick_service_create(gate, (uint64_t)"echo", 4, 0);
  for (;;) {
    uint64_t slot = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label) & 0xff;
    if (label != 0 && message[0] == WAIT)
      continue;
    if (label != 0 && message[0] == END)
      return 0;
    // A session gets a label, and a message its word.
    answer[1] = label == 0 ? 7 : message[1];
    if (slot != FLICK_NO_SLOT)
      flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer);
  }
}

static int64_t open_session(void) {
  int64_t session;
  while ((session = flick_session_open((uint64_t)"echo", 4, 0, FLICK_FOR_EVER)) == -FLICK_ENOENT)
    flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  return session;
}

static int ask(uint64_t last) {
  uint64_t message[2] = {ECHO, 5}, answer[15];
  int64_t session = open_session();
  int64_t got =
      flick_gate_call(session, (uint64_t)message, sizeof message, (uint64_t)answer, FLICK_FOR_EVER);
  printf("an answer: %ld bytes, %lu\n", (long)got, (unsigned long)answer[1]);
  message[0] = last;
  uint64_t begin = flick_time();
  got =
      flick_gate_call(session, (uint64_t)message, sizeof message, (uint64_t)answer, FLICK_FOR_EVER);
  int is_late = flick_time() - begin > flick_program.frequency / 2;
  printf("no answer: %ld%s\n", (long)got, is_late ? ", late" : "");
  got = flick_gate_call(session, (uint64_t)message, 8, (uint64_t)answer, FLICK_FOR_EVER);
  printf("then: %ld, %ld\n", (long)got,
         (long)flick_session_open((uint64_t)"echo", 4, 0, FLICK_FOR_EVER));
  return 0;
}

static int wait_for_ever(void) {
  uint64_t second, message[15] = {0};
  int64_t fft = flick_tile_find((uint64_t)"fft", 3, 0, &second);
  int64_t activity = flick_activity_create(fft);
  flick_activity_start(activity, FLICK_INPUT_PUSHED);
  printf("the wait ends: %ld\n", (long)flick_activity_wait(activity, FLICK_FOR_EVER, &second));
  printf("then: %ld\n", (long)flick_activity_gate(activity));
  printf("and a message: %ld\n",
         (long)flick_gate_call(activity, (uint64_t)message, 8, (uint64_t)message, FLICK_FOR_EVER));
  return 0;
}

// A program on the tile of a server, which is this one.
static int start(const char *path) {
  struct flick_placed program;
  char *argv[] = {"deaths", "last", NULL};
  int started = flick_placed_create(&program, "core0", false);
  started = started ? started : flick_placed_start_file(&program, path, argv, NULL);
  printf("it starts: %d\n", started);
  int ended = flick_placed_wait(&program, FLICK_FOR_EVER, NULL);
  printf("its end: %d, %d\n", ended, errno == EOWNERDEAD);
  int again = flick_placed_create(&program, "core0", false);
  printf("another one: %d, %d\n", again, errno == EOWNERDEAD);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "last"))
    return flick_thread_sleep(flick_time() + 5 * flick_program.frequency) == 0;
  if (argc > 2 && !strcmp(argv[1], "ask"))
    return ask(strtoul(argv[2], NULL, 0));
  if (argc > 2 && !strcmp(argv[1], "start"))
    return start(argv[2]);
  return argc > 1 && !strcmp(argv[1], "wait") ? wait_for_ever() : serve();
}
