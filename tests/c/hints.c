// Hints in NxP code of what its next instructions need: on a card the thread goes to a hart that
// has it, with its registers; elsewhere nothing happens. By its name, through a pointer, in a tail
// call, in nested activations, with bits that mean nothing. Expects plain clang's results.
// CARD: card card-two
// FLICK-FLAGS: --nxp-march=rv64gcv -Xnxp=-O3
// LIBS: -lpthread
#include <errno.h>
#include <flick.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 100, THREADS = 6, TURNS = 8 };

#define NXP FLICK_NXP __attribute__((noinline))

typedef int Hint(unsigned);

static long host(long value) { return value ^ 0x55; }

NXP long mixed(int32_t *x, long n, long (*volatile called)(long)) {
  long sum = flick_hint(FLICK_HINT_VECTORS);
  double kept = 0.5;
  for (long turn = 0; turn < n; turn++) {
    for (long i = 0; i < N; i++)
      x[i] += (int32_t)i;
    sum += called(x[turn % N]) + (long)(kept * 2);
    kept += 1;
  }
  return sum + flick_hint(FLICK_HINT_GENERAL);
}

NXP int last(Hint *volatile hint, unsigned what) { return hint(what); }

NXP int tail(unsigned what) { return flick_hint(what); }

NXP int wrong(void) {
  errno = 0;
  int result = flick_hint(8 | FLICK_HINT_VECTORS);
  return result * 1000 - errno;
}

static long nested(long value) {
  int32_t own[N] = {0};
  return value + mixed(own, 2, host);
}

static void *run(void *argument) {
  int32_t own[N] = {(int32_t)(uintptr_t)argument};
  return (void *)(uintptr_t)mixed(own, TURNS, host);
}

int main(void) {
  int32_t x[N] = {0};
  long first = mixed(x, 3, host);
  printf("%ld %ld\n", first, mixed(x, 3, nested));
  printf("%d %d %d\n", last(flick_hint, FLICK_HINT_FLOATS), tail(FLICK_HINT_VECTORS), tail(0));
  printf("%d, host: %d %d\n", wrong() == -1000 - EINVAL, flick_hint(FLICK_HINT_CUSTOM),
         flick_hint(64));
  pthread_t threads[THREADS];
  for (uintptr_t n = 0; n < THREADS; n++)
    pthread_create(&threads[n], NULL, run, (void *)n);
  for (int n = 0; n < THREADS; n++) {
    void *result;
    pthread_join(threads[n], &result);
    printf("thread %d: %ld\n", n, (long)(uintptr_t)result);
  }
  return 0;
}
