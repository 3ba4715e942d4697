/* Figure 5a of the Flick paper (ISCA 2020) with several threads: each follows a list of its own, as
 * chase.c does.
 *
 *   chase-threads [-t THREADS] [-c CALLS] [-l LONGEST] [-m MIB]
 *
 * prints as chase.c does, for lengths that double: microseconds of virtual time from the first
 * thread's beginning to the last one's end, per call of a thread. */
#define _GNU_SOURCE
#include "measure.h"
#include "ring.h"
#include "workers.h"

#include <unistd.h>

static uint64_t calls = 8, length;
static const node *place[MOST];

static void follow(size_t number) {
  const node *at = place[number];
  for (uint64_t call = 0; call < calls; call++)
    at = chase(at, length);
  place[number] = at;
}

int main(int argc, char **argv) {
  uint64_t threads = 1, longest = 1024, mib = 4096;
  int option;
  while ((option = getopt(argc, argv, "t:c:l:m:")) != -1) {
    switch (option) {
    case 't':
      threads = number("-t", optarg, 1, MOST);
      break;
    case 'c':
      calls = number("-c", optarg, 1, 1u << 20);
      break;
    case 'l':
      longest = number("-l", optarg, 1, NODES);
      break;
    case 'm':
      mib = number("-m", optarg, 1, 1u << 16);
      break;
    default:
      fprintf(stderr, "usage: %s [-t THREADS] [-c CALLS] [-l LONGEST] [-m MIB]\n",
              program_invocation_short_name);
      return 2;
    }
  }
  now(); /* says at once that no platform is named */

  size_t size = (size_t)mib << 20;
  node *memory = region(size);
  /* A first call, unmeasured, fills the TLB. */
  const node *at = chase(make_ring(memory, size / sizeof(node)), longest);
  for (size_t number = 0; number < threads; number++) {
    place[number] = at;
    for (size_t i = 0; i < NODES / threads; i++)
      at = at->next;
  }

  printf("interval_us,nodes,calls,migrating_us,staying_us\n");
  for (length = 4; length <= longest; length *= 2) {
    prediction all = at_once(threads, follow);
    printf("0,%llu,%llu,%.6f,%.6f\n", (unsigned long long)length, (unsigned long long)calls,
           each_us(all.migrating_ps, calls), each_us(all.staying_ps, calls));
  }
  flick_free(memory);
}
