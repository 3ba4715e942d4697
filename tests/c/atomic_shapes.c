// Atomic objects of 1, 2, 4, 8 and 16 bytes and of odd sizes, neighbours in one word, changed by
// host and NxP threads at once: no update is lost, neighbours stay, and locks built on them hold.
// OUT: 60 60000 60000 60000 60000 60000
// OUT: 7 7 60000 60000 2
// CFLAGS: -Wno-atomic-alignment
// LIBS: -latomic -pthread
#include <flick.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 15000 };
static struct {
  unsigned char guard, byte;
  unsigned short pair;
  unsigned char flag, last;
} packed = {.guard = 7, .last = 7};
static unsigned word;
static unsigned long both;
static __int128 large;
struct three {
  char text[3];
};
static _Atomic struct three odd;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic unsigned char ticket_byte;
static long under_flag, under_byte;

static inline __attribute__((always_inline)) void round_of(int i) {
  __atomic_fetch_add(&packed.byte, 1, __ATOMIC_RELAXED);
  __sync_fetch_and_add(&packed.pair, 1);
  __atomic_fetch_add(&word, 1, __ATOMIC_ACQ_REL);
  unsigned long old = __atomic_load_n(&both, __ATOMIC_RELAXED);
  while (
      !__atomic_compare_exchange_n(&both, &old, old + 1, i & 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    ;
  if (i % 8 == 0) {
    __int128 seen = __atomic_load_n(&large, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&large, &seen, seen + ((__int128)8 << 64) + 8, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      ;
  }
  while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
    sched_yield();
  under_flag++;
  atomic_flag_clear_explicit(&flag, memory_order_release);
  unsigned char none = 0;
  while (!atomic_compare_exchange_weak(&ticket_byte, &none, 1)) {
    none = 0;
    sched_yield();
  }
  under_byte++;
  atomic_store(&ticket_byte, 0);
}
FLICK_NXP static void *on_nxp(void *arg) {
  for (int i = 0; i < ROUNDS; i++)
    round_of(i);
  atomic_store(&odd, ((struct three){{1, 2, 3}}));
  return arg;
}
FLICK_HOST static void *on_host(void *arg) {
  for (int i = 0; i < ROUNDS; i++)
    round_of(i);
  return arg;
}

int main(void) {
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, i % 2 ? on_nxp : on_host, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  printf("%d %d %u %lu %ld %ld\n", packed.byte == (unsigned char)(THREADS * ROUNDS) ? 60 : -1,
         packed.pair == (unsigned short)(THREADS * ROUNDS) ? 60000 : -1, word, both,
         (long)(large >> 64), (long)large);
  struct three three = atomic_load(&odd);
  printf("%d %d %ld %ld %d\n", packed.guard, packed.last, under_flag, under_byte, three.text[1]);
}
