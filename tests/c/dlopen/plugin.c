#include <flick.h>
#include <stdlib.h>

int plugin_loads;
static int *state;

__attribute__((constructor)) FLICK_NXP static void load(void) {
  state = malloc(sizeof *state);
  *state = 100;
  plugin_loads++;
}
__attribute__((destructor)) FLICK_NXP static void unload(void) { free(state); }

FLICK_NXP int plugin_work(int (*f)(int), int x) {
  *state += 1;
  return f(f(x)) * 1000 + *state;
}
FLICK_NXP void *plugin_address(void) { return (void *)plugin_work; }
