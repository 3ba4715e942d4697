#include "order.h"
#include <stdio.h>
#include <stdlib.h>

static int numbers[4];
static int n;
FLICK_HOST void say(const char *what, int number) { printf("%s %d\n", what, number); }
FLICK_NXP static void at_end(void) { say("atexit C", numbers[--n]); }
FLICK_NXP void c_register(int number) {
  numbers[n++] = number;
  atexit(at_end);
}
