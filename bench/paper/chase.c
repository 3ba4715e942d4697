/* Figure 5 of the Flick paper (ISCA 2020), section V.B: the host calls a function on the NxP that
 * follows a linked list; the nodes are 8-byte aligned and spread at random over 4 GB of NxP-local
 * memory, and the number of nodes that a call visits is swept. Between two calls the host pauses
 * (5b) or does not (5a).
 *
 *   chase [-i MICROSECONDS between calls] [-c CALLS] [-s STEP] [-l LONGEST] [-m MIB]
 *
 * prints comma-separated values: for each length microseconds of virtual time per call, pause
 * included. */
#define _GNU_SOURCE
#include "measure.h"
#include "ring.h"

#include <unistd.h>

int main(int argc, char **argv) {
  uint64_t interval = 0, calls = 32, step = 4, longest = 1024, mib = 4096;
  int option;
  while ((option = getopt(argc, argv, "i:c:s:l:m:")) != -1) {
    switch (option) {
    case 'i':
      interval = number("-i", optarg, 0, 999999);
      break;
    case 'c':
      calls = number("-c", optarg, 1, 1u << 20);
      break;
    case 's':
      step = number("-s", optarg, 1, 1u << 20);
      break;
    case 'l':
      longest = number("-l", optarg, 1, 1u << 20);
      break;
    case 'm':
      mib = number("-m", optarg, 1, 1u << 16);
      break;
    default:
      fprintf(stderr, "usage: %s [-i MICROSECONDS] [-c CALLS] [-s STEP] [-l LONGEST] [-m MIB]\n",
              program_invocation_short_name);
      return 2;
    }
  }
  now(); /* says at once that no platform is named */

  size_t size = (size_t)mib << 20;
  node *memory = region(size);
  /* A first call, unmeasured, fills the TLB. */
  const node *at = chase(make_ring(memory, size / sizeof(node)), longest);

  printf("interval_us,nodes,calls,migrating_us,staying_us\n");
  for (uint64_t length = step; length <= longest; length += step) {
    prediction begin = now();
    for (uint64_t call = 0; call < calls; call++) {
      at = chase(at, length);
      if (interval)
        usleep((useconds_t)interval);
    }
    prediction all = since(begin);
    printf("%llu,%llu,%llu,%.6f,%.6f\n", (unsigned long long)interval, (unsigned long long)length,
           (unsigned long long)calls, each_us(all.migrating_ps, calls),
           each_us(all.staying_ps, calls));
  }
  flick_free(memory);
}
