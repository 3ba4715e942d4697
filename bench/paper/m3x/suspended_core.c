/* Round trips of M3x (ATC 2019, section 7.2) to a thread of another core that does not run: a less
 * urgent thread computes there. The kernel takes the message, and switches the core.
 *
 *   suspended_core REPETITIONS
 *
 * runs on a kernel with two cores for programs, and prints comma-separated values: cycles of the
 * core. */
#include "calls.h"
#include <pthread.h>

enum {
  WARM_UPS = 4,
  FIRST = 1 << 1,
  SECOND = 1 << 2,
  URGENT = 1,
  NOBODY = 1000,
  NO_SLOT = 255,
  WORDS = 15
};

static uint64_t gate;
static volatile uint64_t computed;
static volatile int ends;

static void *compute(void *unused) {
  (void)unused;
  good(flick_thread_place((uint64_t)flick_thread_self(), SECOND), "thread_place");
  while (!ends)
    computed++;
  return NULL;
}

/* Answers each message, until one has NOBODY in it. */
static void *serve(void *unused) {
  uint64_t message[WORDS], label, answer[3] = {0}, slot = NO_SLOT;
  (void)unused;
  good(flick_thread_place((uint64_t)flick_thread_self(), SECOND), "thread_place");
  good(flick_thread_priority((uint64_t)flick_thread_self(), URGENT), "thread_priority");
  do {
    slot = good(flick_gate_answer_receive(gate, slot, (uint64_t)answer, sizeof answer,
                                          (uint64_t)message, FLICK_FOR_EVER, &label),
                "gate_answer_receive") &
           0xff;
    answer[0] = computed;
  } while (message[0] != NOBODY);
  good(flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer), "gate_answer");
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  uint64_t repetitions = strtoull(argv[1], 0, 10), message[3] = {0}, answer[WORDS], before = 0;
  good(flick_thread_place((uint64_t)flick_thread_self(), FIRST), "thread_place");
  puts("measure,threads,repetition,cycles");
  gate = good(flick_gate_create(), "gate_create");
  uint64_t sender = good(flick_gate_sender(gate, 0, 1), "gate_sender");
  pthread_t server, other;
  pthread_create(&server, NULL, serve, NULL);
  pthread_create(&other, NULL, compute, NULL);
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    uint64_t begin = cycles();
    good(flick_gate_call(sender, (uint64_t)message, sizeof message, (uint64_t)answer,
                         FLICK_FOR_EVER),
         "gate_call");
    uint64_t took = cycles() - begin;
    if (n >= WARM_UPS)
      printf("core suspended,1,%lu,%lu\n", (unsigned long)(n - WARM_UPS), (unsigned long)took);
    /* The other thread has the core between two messages. */
    if (answer[0] == before && n)
      return 3;
    before = answer[0];
    uint64_t until = flick_time() + 100;
    while (flick_time() < until)
      ;
  }
  ends = 1;
  message[0] = NOBODY;
  good(flick_gate_call(sender, (uint64_t)message, sizeof message, (uint64_t)answer, FLICK_FOR_EVER),
       "gate_call");
  pthread_join(server, NULL);
  pthread_join(other, NULL);
  return 0;
}
