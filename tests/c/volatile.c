// Volatile objects of every width, atomic-looking loops and volatile arguments in NxP code.
// OUT: 5 132 16608 27 -72186528 228.390625
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

static volatile uint8_t v8;
static volatile int16_t v16;
static volatile uint32_t v32;
static volatile int64_t v64;
static volatile double vd;

FLICK_HOST static void bump(volatile uint32_t *p) { *p += 3; }

FLICK_NXP static int run(volatile int n) {
  int rounds = 0;
  while (n-- > 0) {
    v8 = (uint8_t)(v8 + 100);
    v16 = (int16_t)(v16 - 20000);
    v64 = v64 * 3 + v16;
    vd = vd / 2 + v8;
    bump(&v32);
    rounds += v32 & 1;
  }
  return rounds;
}

int main(void) {
  int rounds = run(9);
  printf("%d %d %d %u %ld %.17g\n", rounds, v8, v16, v32, (long)v64, vd);
}
