/* Round trips of M3x (ATC 2019, section 7.2) between programs of two core tiles, whose harts send,
 * receive and answer by their own banks of the unit:
 *
 *   core_trips serve
 *   core_trips REPETITIONS
 *
 * The second one prints comma-separated values: cycles of its core. The receiver runs, or another
 * thread has its core, so that the kernel of its tile has to switch: for one message, and for
 * several that come at once. A system call goes to the root by a message. */
#include "calls.h"
#include <pthread.h>

enum { WARM_UPS = 4, WORDS = 15, MOST = 8, OWN = 1, CLIENT = 2, URGENT = 2, LAZY = 6 };
enum { ECHO, SUSPEND, END };

static const char service[] = "trips";

/* It has the core while the receiver waits. */
static void *compute(void *unused) {
  (void)unused;
  good(flick_thread_priority((uint64_t)flick_thread_self(), LAZY), "thread_priority");
  for (;;)
    __asm__ volatile("");
}

static int serve(void) {
  uint64_t gate = good(flick_gate_create(), "gate_create");
  uint64_t to = good(flick_gate_create(), "gate_create"), session = 0, now = gate, slot, label;
  uint64_t sender = good(flick_gate_sender(to, CLIENT, MOST), "gate_sender"), message[WORDS];
  good(flick_service_create(gate, (uint64_t)service, sizeof service - 1, OWN), "service_create");
  good(flick_thread_priority((uint64_t)flick_thread_self(), URGENT), "thread_priority");
  do {
    uint64_t answer[3] = {0};
    slot = good(flick_gate_receive(now, (uint64_t)message, FLICK_FOR_EVER, &label), "gate_receive");
    if (now == gate && label == OWN)
      session = message[1];
    uint64_t from = now;
    if (now == gate && label != OWN) {
      answer[1] = good(flick_session_give(session, sender), "session_give");
      now = to;
    }
    pthread_t thread;
    if (from == to && message[0] == SUSPEND)
      pthread_create(&thread, NULL, compute, NULL);
    good(flick_gate_answer(from, slot & 0xff, (uint64_t)answer, sizeof answer), "gate_answer");
  } while (now == gate || message[0] != END);
  return 0;
}

static uint64_t gate, to;

/* So many messages at once, and their answers. */
static uint64_t round_trip(uint64_t word, int count) {
  uint64_t message[3] = {word}, answer[WORDS], label, begin = cycles();
  for (int n = 0; n < count; n++)
    good(flick_gate_send(to, (uint64_t)message, sizeof message, gate, 0), "gate_send");
  for (int n = 0; n < count; n++)
    good(flick_gate_receive(gate, (uint64_t)answer, FLICK_FOR_EVER, &label), "gate_receive");
  return cycles() - begin;
}

static void measure(const char *name, int count, uint64_t repetitions) {
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    /* The receiver waits again. */
    flick_thread_sleep(flick_time() + flick_program.frequency / 50000);
    uint64_t took = round_trip(ECHO, count);
    if (n >= WARM_UPS)
      printf("%s,%d,%lu,%lu\n", name, count, (unsigned long)(n - WARM_UPS), (unsigned long)took);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "serve"))
    return serve();
  uint64_t repetitions = strtoull(argv[1], NULL, 10), message[3] = {0}, answer[WORDS], endpoints;
  int64_t session;
  gate = good(flick_gate_create(), "gate_create");
  while ((session = flick_session_open((uint64_t)service, sizeof service - 1, 0, FLICK_FOR_EVER)) ==
         -FLICK_ENOENT)
    flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  good(session, "session_open");
  good(flick_gate_call((uint64_t)session, (uint64_t)message, sizeof message, (uint64_t)answer,
                       FLICK_FOR_EVER),
       "gate_call");
  to = answer[1];
  puts("measure,threads,repetition,cycles");
  measure("core by calls", 1, repetitions);
  measure("core by calls", MOST, repetitions);
  for (uint64_t n = 0; n < WARM_UPS + repetitions; n++) {
    uint64_t begin = cycles();
    good(flick_tile_find(0, 0, 0, &endpoints), "tile_find");
    uint64_t took = cycles() - begin;
    if (n >= WARM_UPS)
      printf("system call by message,1,%lu,%lu\n", (unsigned long)(n - WARM_UPS),
             (unsigned long)took);
  }
  round_trip(SUSPEND, 1);
  for (int count = 1; count <= MOST; count *= 2)
    measure("suspended core", count, repetitions);
  round_trip(END, 1);
  return 0;
}
