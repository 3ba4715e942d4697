/* Prints what the card has counted of code that takes several budgets: instructions and virtual
 * time. run.sh compares the interpreter's with those of translated code. `card_budgets LIBRARY`,
 * with the path of libflick-card.so. */
#include "../../bench/card_workloads.h"
#include <dlfcn.h>
#include <flick.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { WORDS = 512 };
static uint64_t words[WORDS];
static atomic_ulong counter;

/* Loops in loops, branches, calls, atomics and floating point. */
FLICK_NXP static uint64_t work(uint64_t rounds) {
  uint64_t state = rounds;
  double sum = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    sort_random(words, WORDS, &state);
    for (int n = 0; n < WORDS; n++) {
      sum += (double)(words[n] >> 40) * 0.5;
      if (words[n] & 64)
        atomic_fetch_add(&counter, words[n] & 3);
    }
    state += fibonacci(12 + (round & 3));
  }
  return state + (uint64_t)sum + counter;
}

/* `Functions` of crates/abi/src/card_interface.rs: the ninth gives these counts. */
enum { COUNTS_OF = 8 };
struct counts {
  unsigned long all, owners, sent, received, picoseconds;
};

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) : NULL;
  void **functions = library ? dlsym(library, "__flick_card_7") : NULL;
  if (!functions) {
    fputs("card_budgets: the library is not loaded\n", stderr);
    return 1;
  }
  void (*read_counts)(struct counts *) = functions[COUNTS_OF];
  for (int call = 0; call < 3; call++) {
    uint64_t result = work(20 + (uint64_t)call);
    struct counts counts;
    read_counts(&counts);
    printf("%lx: %lu instructions, %lu of the card, %lu ps\n", result, counts.owners,
           counts.all - counts.owners, counts.picoseconds);
  }
}
