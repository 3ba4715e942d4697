// The rounding mode set by the host holds in NxP code, and the one set by NxP code holds on the
// host; each thread has its own. Expects one floating-point environment per thread.
// OUT: 0x1.5555555555555p-2 18 1
// OUT: 0x1.5555555555556p-2 28 1
// OUT: 0x1.5555555555555p-2 17 1
// OUT: 0x1.5555555555555p-2 18 1
// OUT: 1 0x1.5555555555555p-2 1
// OUT: 1 0x1.5555555555556p-2 1
// OUT: 1 0x1.5555555555555p-2 1
// OUT: 1 0x1.5555555555555p-2 1
// OUT: thread 0x1.5555555555556p-2
// OUT: 0x1.5555555555556p-2
// LIBS: -lm -pthread
// SKIP-VALGRIND: valgrind 3.19 does not round upwards
#include <fenv.h>
#include <flick.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

static volatile double one = 1, three = 3, half = 2.5;

FLICK_NXP static double nxp_third(void) { return one / three; }
FLICK_NXP static long nxp_round(void) { return lrint(half) * 10 + lrint(-half); }
FLICK_NXP static int nxp_set(int mode) {
  int before = fegetround();
  return fesetround(mode) ? -1 : before;
}
FLICK_HOST static double host_third(void) { return one / three; }
FLICK_NXP static int same(void) {
  volatile double here = one / three;
  return here == host_third();
}

static void *thread(void *arg) {
  (void)arg;
  printf("thread %a\n", nxp_third());
  nxp_set(FE_TOWARDZERO);
  return NULL;
}

int main(void) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (int i = 0; i < 4; i++) {
    fesetround(modes[i]);
    printf("%a %ld %d\n", nxp_third(), nxp_round(), same());
  }
  for (int i = 0; i < 4; i++) {
    int before = nxp_set(modes[i]);
    printf("%d %a %d\n", before == modes[(i + 3) % 4], host_third(), fegetround() == modes[i]);
  }
  nxp_set(FE_UPWARD);
  pthread_t t;
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  printf("%a\n", host_third());
}
