// Custom opcodes in NxP code. The NxP has no unit for them, nor do the harts of these machines, so
// each is an illegal instruction: a handler computes what the unit would. Expects plain clang's
// results. tests/errors/card_units.sh has harts with units.
// CARD: card card-two
// SKIP-RANDOM: the function with the NxP's instruction has to be on the NxP
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

static sigjmp_buf back;
static volatile int illegal;

static uint64_t in_software(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  for (int i = 0; i < 64; i += 8)
    sum += (uint64_t)((int64_t)(int8_t)(a >> i) * (int8_t)(b >> i));
  return sum;
}

FLICK_NXP __attribute__((noinline)) uint64_t dot(uint64_t a, uint64_t b) {
#ifdef __FLICK__
  uint64_t sum;
  __asm__(".insn r 0x0b, 7, 0, %0, %1, %2" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
#else
  return raise(SIGILL) ? a : b;
#endif
}

static void handler(int number) {
  illegal += number == SIGILL;
  siglongjmp(back, 1);
}

static uint64_t tried(uint64_t a, uint64_t b) {
  if (sigsetjmp(back, 1))
    return in_software(a, b);
  return dot(a, b);
}

int main(void) {
  signal(SIGILL, handler);
  for (uint64_t i = 1; i < 4; i++)
    printf("%ld\n", (long)tried(0x0102030405060708 * i, 0xfffefdfcfbfaf9f8));
  printf("illegal: %d\n", illegal);
  return 0;
}
