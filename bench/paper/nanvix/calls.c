/* What a kernel call takes, with 1 to 14 callers at once: L-Kcall and R-Kcall of the Nanvix paper.
 * The local call is `thread_self`, the remote one goes to the kernel hart and does nothing there.
 * One that changes the table of threads is beside them: a thread wakes itself, which does not
 * sleep.
 *
 *   calls [STEP [ONLY]]
 *
 * with numbers of callers a STEP apart, or with ONLY one number of them, prints comma-separated
 * values: cycles, for each repetition the least, the mean and the most of the callers. */
#include "threads.h"

static struct shared ready, callers;

/* Each caller calls again as soon as it can. */
#define CALLER(name, call)                                                                         \
  static void name(uint64_t thread) {                                                              \
    uint64_t empty = empty_cycles(), self = flick_thread_self();                                   \
    (void)self;                                                                                    \
    meet(&ready, shared_get(&callers));                                                            \
    for (int n = 0; n < WARM_UPS + REPETITIONS; n++) {                                             \
      uint64_t begin = cycles();                                                                   \
      call;                                                                                        \
      keep(thread, n, cycles() - begin - empty);                                                   \
    }                                                                                              \
    flick_thread_exit(0);                                                                          \
  }

CALLER(call_locally, flick_thread_self())
CALLER(call_remotely, flick_kernel_nothing())
CALLER(change, flick_thread_wakeup(self))

static void measure(const char *call, void (*caller)(uint64_t), int step, int only) {
  int first = only ? only : 1, last = only ? only : MOST_THREADS;
  for (int count = first; count <= last; count = next_count(count, step)) {
    shared_set(&ready, 0);
    shared_set(&callers, count);
    run_threads(caller, count);
    print_samples(call, count);
  }
}

int main(int argc, char **argv) {
  stay();
  int step = step_argument(argc, argv), only = argc > 2 ? atoi(argv[2]) : 0;
  printf("call,callers,repetition,least,mean,most\n");
  measure("local", call_locally, step, only);
  measure("remote", call_remotely, step, only);
  measure("change", change, step, only);
}
