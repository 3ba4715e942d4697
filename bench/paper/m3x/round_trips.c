/* Round trips of M3x (ATC 2019, section 7.2) as programs of the card's kernel have them: to an
 * accelerator of streams that runs, and between two threads of one core. Beside the latter it
 * measures a switch of threads.
 *
 *   round_trips REPETITIONS
 *
 * prints comma-separated values: cycles of the core. */
#include "chains.h"
#include <pthread.h>

enum { WARM_UPS = 4, NOBODY = 1000, NO_SLOT = 255 };

static uint64_t gate, repetitions;
static volatile int ends;

static void print(const char *measure, uint64_t repetition, uint64_t took) {
  printf("%s,1,%lu,%lu\n", measure, (unsigned long)repetition, (unsigned long)took);
}

/* Answers each message, until one has NOBODY in it. */
static void *serve(void *unused) {
  uint64_t message[WORDS], label, answer[3] = {0}, slot = NO_SLOT;
  (void)unused;
  do
    slot = good(flick_gate_answer_receive(gate, slot, (uint64_t)answer, sizeof answer,
                                          (uint64_t)message, FLICK_FOR_EVER, &label),
                "gate_answer_receive") &
           0xff;
  while (message[0] != NOBODY);
  good(flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer), "gate_answer");
  return NULL;
}

static void *yield(void *unused) {
  (void)unused;
  while (!ends)
    flick_thread_yield();
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  repetitions = number(argv[1]);
  puts("measure,threads,repetition,cycles");
  gate = good(flick_gate_create(), "gate_create");
  uint64_t message[3] = {FLICK_FILE_COMMIT}, answer[WORDS], label;

  /* Nobody has granted anything: the answer comes at once. */
  struct chain chain;
  make_activities(&chain, 0, 1);
  uint64_t to_stream = sender_to(&chain, FFT);
  good(flick_activity_start(chain.activities[FFT], FLICK_INPUT_PUSHED), "activity_start");
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    uint64_t begin = cycles();
    good(flick_gate_send(to_stream, (uint64_t)message, sizeof message, gate, 0), "gate_send");
    good(flick_gate_receive(gate, (uint64_t)answer, FLICK_FOR_EVER, &label), "gate_receive");
    uint64_t took = cycles() - begin;
    if (n >= WARM_UPS)
      print("stream accelerator by calls", n - WARM_UPS, took);
  }

  pthread_t thread;
  uint64_t sender = good(flick_gate_sender(gate, 0, 1), "gate_sender");
  pthread_create(&thread, NULL, serve, NULL);
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    uint64_t begin = cycles();
    good(flick_gate_call(sender, (uint64_t)message, sizeof message, (uint64_t)answer,
                         FLICK_FOR_EVER),
         "gate_call");
    uint64_t took = cycles() - begin;
    if (n >= WARM_UPS)
      print("core-local", n - WARM_UPS, took);
  }
  message[0] = NOBODY;
  good(flick_gate_call(sender, (uint64_t)message, sizeof message, (uint64_t)answer, FLICK_FOR_EVER),
       "gate_call");
  pthread_join(thread, NULL);

  /* Two threads give way to each other. */
  pthread_create(&thread, NULL, yield, NULL);
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    uint64_t begin = cycles();
    flick_thread_yield();
    uint64_t took = cycles() - begin;
    if (n >= WARM_UPS)
      print("switch", n - WARM_UPS, took / 2);
  }
  ends = 1;
  pthread_join(thread, NULL);
  return 0;
}
