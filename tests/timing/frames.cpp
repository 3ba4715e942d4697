// NxP code leaves calls in every way, as often as the first argument says. Samples must have the
// same frames after few and after many.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <flick.h>

#define APART __attribute__((noinline))

static volatile long bias;
static jmp_buf back;

static APART long spin(long x) {
  for (int i = 0; i < 300; i++)
    x = x * 3 + bias;
  return x;
}

extern "C" {
FLICK_HOST APART long host(long x) { return x + bias; }
FLICK_HOST APART long host_again(long x) { return host(x) + 1; }
FLICK_NXP APART long leaf(long x) { return spin(x); }
// The host's return leaves this function, too.
FLICK_NXP APART long hands_over(long x) {
  spin(x);
  return host(x);
}
FLICK_HOST APART void throws(long x) {
  if (x >= 0)
    throw x;
}
FLICK_HOST APART void jumps(long x) { longjmp(back, static_cast<int>(x % 2) + 1); }
FLICK_NXP APART long deep(long x, long depth, void (*leave)(long)) {
  if (depth == 0)
    leave(x);
  else
    deep(x, depth - 1, leave);
  return spin(x) + bias;
}
FLICK_NXP APART long catches(long x) {
  try {
    return deep(x, 3, throws);
  } catch (long y) {
    return spin(y);
  }
}
// Functions of both sides are between the throw and its landing pad.
FLICK_HOST APART long between(long x) { return deep(x, 2, throws) + 1; }
FLICK_NXP APART long catches_far(long x, long depth) {
  if (depth > 0)
    return catches_far(x, depth - 1) + 1;
  try {
    return between(x);
  } catch (long y) {
    return spin(y);
  }
}
FLICK_NXP APART long comes_back(volatile long x) {
  if (setjmp(back) == 0)
    return deep(x, 12, jumps);
  return spin(x);
}

FLICK_NXP APART long work(long n, long (*by_pointer)(long), long (*of_host)(long)) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    sum += host(i) + host_again(i) + hands_over(i);
    sum += by_pointer(i) + of_host(i);
    void *block = malloc(16 + i);
    sum += block != nullptr;
    free(block);
    sum += catches(i) + catches_far(i, 2) + comes_back(i) + spin(i);
  }
  return sum;
}
}

int main(int, char **argv) {
  std::printf("%d\n", work(std::atol(argv[1]), leaf, host) != 1);
  return 0;
}
