// Two coroutines of swapcontext that are NxP functions leave their frames and come back.
// FAILS: run FLK0504
// EXIT: 125
// SAYS: on the host
#include <flick.h>
#include <stdio.h>
#include <ucontext.h>

static ucontext_t back, first, second;
static char stacks[2][1 << 16];
static volatile int turns;

FLICK_NXP static void ping(void) {
  for (int i = 0; i < 3; i++, turns++)
    swapcontext(&first, &second);
}

FLICK_NXP static void pong(void) {
  for (int i = 0; i < 3; i++, turns++)
    swapcontext(&second, &first);
}

static void prepare(ucontext_t *context, char *stack, void (*function)(void)) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = sizeof stacks[0];
  context->uc_link = &back;
  makecontext(context, function, 0);
}

int main(void) {
  prepare(&first, stacks[0], ping);
  prepare(&second, stacks[1], pong);
  swapcontext(&back, &first);
  printf("%d\n", turns);
}
