/* All harts of a machine at work, each on memory of its own and now and then on a counter of all: a
 * bare program for `flick machine run` that ends by the test finisher. HARTS harts take part, each
 * ROUNDS times. */
#ifndef ROUNDS
#define ROUNDS 40000
#endif
enum { WORDS = 4096, SHARED_EVERY = 256 };

static unsigned long own[HARTS][WORDS] __attribute__((aligned(64)));
static volatile unsigned long shared, done;

static unsigned long work(unsigned long *words, unsigned long seed) {
  unsigned long sum = 0;
  for (int i = 0; i < ROUNDS; i++) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    unsigned long at = seed >> 33 & (WORDS - 1);
    words[at] += seed ^ sum;
    sum += words[(at + 17) & (WORDS - 1)] >> 3;
    if (i % SHARED_EVERY == 0)
      __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
  }
  return sum;
}

void program(unsigned long hart) {
  if (hart < HARTS) {
    own[hart][0] = work(own[hart], hart);
    __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
  }
  if (hart == 0) {
    while (done != HARTS)
      ;
    *(volatile unsigned *)0x100000 =
        shared == HARTS * ((ROUNDS + SHARED_EVERY - 1) / SHARED_EVERY) ? 0x5555 : 0x13333;
  }
  for (;;)
    __asm__ volatile("wfi");
}

static char stacks[HARTS][4096] __attribute__((used, aligned(16)));
__asm__(".globl _start\n_start:\n.option push\n.option norelax\nla sp, stacks\n.option pop\naddi "
        "t0, a0, 1\nslli t0, t0, 12\n"
        "add sp, sp, t0\nj program\n");
