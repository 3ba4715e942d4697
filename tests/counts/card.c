/* What run.sh counts of FLICK_BACKEND=card: the instructions of the card's kernel for a round trip,
 * and the host's under callgrind. `card LIBRARY`, with the path of libflick-card.so, prints the
 * first as lines of a name and a figure, and makes a dump of the others for each name. */
#include <dlfcn.h>
#include <flick.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

#define SEPARATE __attribute__((noinline))

enum { CALLS = 1000 };

/* A variable on the NxP's stack makes a function no leaf that runs on the host's. */
FLICK_NXP SEPARATE void null_on_nxp(void) { volatile long here = 0; }
FLICK_HOST SEPARATE void null_on_host(void) { __asm__ volatile(""); }
FLICK_NXP SEPARATE void calls_of_host(long calls) {
  for (long call = 0; call < calls; call++)
    null_on_host();
}

static void host_nxp_host(void) {
  for (int call = 0; call < CALLS; call++)
    null_on_nxp();
}
static void nxp_host_nxp(void) { calls_of_host(CALLS); }

/* `Functions` of crates/abi/src/card_interface.rs: the ninth gives these counts. */
enum { COUNTS_OF = 8 };
struct counts {
  unsigned long all, owners, sent, received, picoseconds;
};

static const struct {
  const char *name;
  void (*run)(void);
} crossings[] = {{"card-host-nxp-host", host_nxp_host}, {"card-nxp-host-nxp", nxp_host_nxp}};

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) : NULL;
  void **functions = library ? dlsym(library, "__flick_card_7") : NULL;
  if (!functions) {
    fputs("card: the library is not loaded\n", stderr);
    return 1;
  }
  void (*read_counts)(struct counts *) = functions[COUNTS_OF];
  for (unsigned c = 0; c < sizeof crossings / sizeof *crossings; c++) {
    struct counts before, after;
    char dump[64];
    crossings[c].run();
    read_counts(&before);
    CALLGRIND_START_INSTRUMENTATION;
    crossings[c].run();
    CALLGRIND_STOP_INSTRUMENTATION;
    read_counts(&after);
    unsigned long owners = after.owners - before.owners;
    printf("%s-firmware %.3f\n", crossings[c].name,
           (double)(after.all - before.all - owners) / CALLS);
    snprintf(dump, sizeof dump, "%s %d", crossings[c].name, CALLS);
    CALLGRIND_DUMP_STATS_AT(dump);
    /* Each is a crossing of the card. */
    if (after.sent - before.sent < CALLS || after.received - before.received < CALLS)
      return 1;
  }
}
