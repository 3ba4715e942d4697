// `__builtin_constant_p` in a function answers for each caller that it is inlined into. A pattern
// that places such functions does not part them from their callers: each side has its own.
// PLACE: functions.place
// SKIP-RANDOM: a pattern chooses functions, whatever the dice say
#include <flick.h>
#include <stdio.h>

static inline int ask_inline(int x) { return __builtin_constant_p(x) ? 10 : 20; }
static int ask_static(int x) { return __builtin_constant_p(x + 1) ? 10 : 20; }
int ask_other(int x) { return __builtin_constant_p(x) ? 10 : 20; }
static inline __attribute__((always_inline)) int ask_always(const char *text) {
  return __builtin_constant_p(text[1]) ? 10 : 20;
}

static volatile int number = 3;

#define ASKS                                                                                       \
  ask_inline(1), ask_inline(number), ask_static(1), ask_static(number), ask_other(1),              \
      ask_other(number), ask_always("text")

FLICK_NXP void on_nxp(void) { printf("%d %d %d %d %d %d %d\n", ASKS); }
FLICK_HOST void on_host(void) { printf("%d %d %d %d %d %d %d\n", ASKS); }

int main(void) {
  int (*volatile pointer)(int) = ask_other;
  on_nxp();
  on_host();
  printf("%d\n", pointer(1));
  return 0;
}
