// C11 atomics of all widths on objects that host and NxP threads change at once. Expects no update
// to be lost and the read-modify-write results of plain C.
// OUT: 224 -12000 36000 24000 6000 12000
// OUT: 224 -12000 46 36000 200 0 44 3 2
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static _Atomic uint8_t a8;
static _Atomic int16_t a16;
static _Atomic uint32_t a32;
static _Atomic int64_t a64;
static _Atomic(int *) pointer;
static _Atomic double real;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static long guarded;
enum { ROUNDS = 3000 };

#define WORK                                                                                       \
  for (int i = 0; i < ROUNDS; i++) {                                                               \
    a8++;                                                                                          \
    atomic_fetch_sub(&a16, 1);                                                                     \
    atomic_fetch_add_explicit(&a32, 3, memory_order_relaxed);                                      \
    int64_t old = atomic_load_explicit(&a64, memory_order_acquire);                                \
    while (!atomic_compare_exchange_weak(&a64, &old, old + 2))                                     \
      ;                                                                                            \
    double d = real;                                                                               \
    while (!atomic_compare_exchange_strong(&real, &d, d + 0.5))                                    \
      ;                                                                                            \
    while (atomic_flag_test_and_set(&lock))                                                        \
      sched_yield();                                                                               \
    guarded++;                                                                                     \
    atomic_flag_clear(&lock);                                                                      \
  }                                                                                                \
  return arg;

FLICK_NXP static void *on_nxp(void *arg){WORK} FLICK_HOST static void *on_host(void *arg){WORK}

FLICK_NXP static void single(int *x) {
  printf("%d ", atomic_exchange(&a8, 200));
  printf("%d ", atomic_fetch_or(&a16, 0x0f));
  printf("%d ", a16 &= 0x7e);
  printf("%u ", (unsigned)atomic_fetch_xor(&a32, 0xffU));
  printf("%d ", atomic_fetch_add(&a8, 100));
  uint8_t expected = 1;
  printf("%d ", atomic_compare_exchange_strong(&a8, &expected, 9));
  printf("%d ", expected);
  pointer = x;
  atomic_store(&pointer, atomic_load(&pointer) + 2);
  printf("%d ", *pointer);
  printf("%td\n", atomic_exchange(&pointer, NULL) - x);
}

int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, i % 2 ? on_host : on_nxp, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%d %d %u %ld %g %ld\n", a8, a16, (unsigned)a32, (long)a64, real, guarded);
  int x[] = {1, 2, 3};
  single(x);
}
