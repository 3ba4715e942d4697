/* A handler leaves code on a hart of the card for good. run.sh reads how many instructions the
 * process counts: not those of the code that was left, which has not come to the end of its budget.
 */
#define _GNU_SOURCE
#include <flick.h>
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf buffer;
static long *volatile nowhere;

FLICK_HOST static void handler(int signal) {
  (void)signal;
  siglongjmp(buffer, 1);
}

FLICK_NXP __attribute__((noinline)) static long work(long rounds) {
  volatile long sum = 0;
  if (sigsetjmp(buffer, 1) == 0) {
    for (long n = 0; n < rounds; n++)
      sum += n;
    *nowhere = sum;
  }
  for (long n = 0; n < rounds; n++)
    sum -= n;
  return sum;
}

int main(void) {
  signal(SIGSEGV, handler);
  return work(100000) != 0;
}
