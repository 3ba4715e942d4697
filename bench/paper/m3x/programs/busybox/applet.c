// One applet of BusyBox as a program of its own: what libbb/appletlib.c has for all of them
// together.
#include <errno.h>
static int *errno_of_libc(void) { return &errno; }
#include "libbb.h"

int APPLET(int argc, char **argv);

const char *applet_name = NAME;

void FAST_FUNC bb_show_usage(void) {
  fprintf(stderr, "%s: wrong usage\n", applet_name);
  exit(1);
}

unsigned FAST_FUNC string_array_len(char **argv) {
  unsigned count = 0;
  while (argv[count])
    count++;
  return count;
}

int main(int argc, char **argv) {
  ASSIGN_CONST_PTR(&bb_errno, errno_of_libc());
  return APPLET(argc, argv);
}
