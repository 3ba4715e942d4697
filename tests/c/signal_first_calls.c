// A handler on the signal stack calls a hundred NxP functions for the first time, while a timer's
// handler, on the same stack and on the NxP, comes in between: what the first one has there stays
// as it is.
// OUT: 100 calls, nothing has changed
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile int ticks;
static volatile unsigned sum;

// Functions that take a while to translate.
#define ONE(n)                                                                                     \
  FLICK_NXP __attribute__((noinline)) static unsigned f##n(unsigned x) {                           \
    for (unsigned i = 0; i < 2 + (n) % 3; i++) {                                                   \
      x = x * 31 + (x >> 7) + (n);                                                                 \
      if (x & 1)                                                                                   \
        x ^= x << 3;                                                                               \
      switch (x & 7) {                                                                             \
      case 0:                                                                                      \
        x += sum;                                                                                  \
        break;                                                                                     \
      case 1:                                                                                      \
        x -= i * 7;                                                                                \
        break;                                                                                     \
      case 2:                                                                                      \
        x /= i + 3;                                                                                \
        break;                                                                                     \
      case 3:                                                                                      \
        x %= i + 1000001;                                                                          \
        break;                                                                                     \
      case 4:                                                                                      \
        x = x << 9 | x >> 23;                                                                      \
        break;                                                                                     \
      default:                                                                                     \
        x ^= 0x5bd1e995;                                                                           \
        break;                                                                                     \
      }                                                                                            \
    }                                                                                              \
    sum = x;                                                                                       \
    return x;                                                                                      \
  }
#define TEN(n)                                                                                     \
  ONE(n##0)                                                                                        \
  ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
TEN(6)
TEN(7)
TEN(8)
TEN(9)
TEN(10)

#define ADD(n) x = f##n(x), calls++;
#define ADD_TEN(n)                                                                                 \
  ADD(n##0)                                                                                        \
  ADD(n##1) ADD(n##2) ADD(n##3) ADD(n##4) ADD(n##5) ADD(n##6) ADD(n##7) ADD(n##8) ADD(n##9)

FLICK_HOST __attribute__((noinline)) static int changed(const volatile char *from, int size) {
  int count = 0;
  for (int i = 0; i < size; i++)
    count += from[i] != 0x5a;
  return count;
}

static int calls, differ;
FLICK_NXP __attribute__((noinline)) static unsigned all(unsigned x) {
  ADD_TEN(1)
  ADD_TEN(2)
  ADD_TEN(3)
  ADD_TEN(4)
  ADD_TEN(5)
  ADD_TEN(6)
  ADD_TEN(7)
  ADD_TEN(8)
  ADD_TEN(9)
  ADD_TEN(10)
  return x;
}
static void on_usr1(int number) {
  volatile char mine[4096];
  memset((char *)mine, 0x5a, sizeof mine);
  all((unsigned)number);
  differ = changed(mine, sizeof mine);
}
FLICK_NXP static void on_alarm(int number) { ticks = ticks + number; }

int main(void) {
  static char space[1 << 18];
  stack_t stack = {.ss_sp = space, .ss_size = sizeof space};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_flags = SA_ONSTACK | SA_RESTART};
  action.sa_handler = on_usr1;
  sigaction(SIGUSR1, &action, NULL);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &every, NULL);
  raise(SIGUSR1);
  every = (struct itimerval){{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  printf("%d calls, %s\n", calls, differ ? "something has changed" : "nothing has changed");
}
