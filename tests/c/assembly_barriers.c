// Inline assembly that says nothing of x86-64 in an NxP function: barriers for the compiler, values
// hidden from the optimiser, empty statements with operands; and the short ones of spin loops and
// memory ordering, in assembly and as intrinsics: nop, pause, mfence, lfence, sfence.
// OUT: 15 9 42 1.500000 7 3
// OUT: order 0
// LIBS: -pthread
#include <flick.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>

#define barrier() __asm__ volatile("" ::: "memory")
#define relax() __asm__ volatile("pause" ::: "memory")
#define relax_old() __asm__ __volatile__("rep; nop" : : : "memory")

FLICK_NXP static int plain(int *p) {
  *p = 5;
  barrier();
  *p += 10;
  __asm__ volatile("" : : "r"(p) : "memory");
  __asm__("");
  return *p;
}
FLICK_NXP static long hidden(long x) {
  __asm__("" : "+r"(x));
  __asm__ volatile("" : "=r"(x) : "0"(x) : "cc", "memory");
  long y;
  __asm__ volatile("" : "=&r"(y) : "0"(x), "m"(x));
  return y + 2;
}
FLICK_NXP static int kept(int x) {
  int array[4] = {x, x, x, x};
  __asm__ volatile("" : "+m"(array));
  __asm__ volatile("" : : "g"(x), "i"(5), "X"(array));
  __asm__ volatile("# a comment" ::: "memory");
  return array[3] + 1;
}
FLICK_NXP static double floating(double d) {
  __asm__("" : "+x"(d));
  return d / 2;
}
FLICK_NXP static int waiting(volatile int *p) {
  int n = 0;
  while (*p > 0) {
    --*p;
    n++;
    __asm__ volatile("nop");
    relax();
    relax_old();
    _mm_pause();
    __builtin_ia32_pause();
    __asm__ __volatile__("nop\n\tnop" ::: "memory");
  }
  return n;
}
FLICK_NXP static int fences(int *p) {
  p[0] = 1;
  __asm__ volatile("mfence" ::: "memory");
  p[1] = 1;
  __asm__ volatile("lfence\n" ::: "memory");
  __asm__ volatile("sfence;" ::: "memory");
  __builtin_ia32_mfence();
  __builtin_ia32_lfence();
  __builtin_ia32_sfence();
  __sync_synchronize();
  return p[0] + p[1] + 1;
}

// Each side writes its own word and reads the other's, with a full fence between: one of them at
// least must see the other's write (without the fence both may miss it).
static volatile int mine[2], seen[2];
static pthread_barrier_t together;
static inline __attribute__((always_inline)) void exchange(int side) {
  mine[side] = 1;
  __asm__ volatile("mfence" ::: "memory");
  seen[side] = mine[1 - side];
}
FLICK_NXP static void on_nxp(void) { exchange(0); }
FLICK_HOST static void on_host(void) { exchange(1); }
static void *other(void *arg) {
  for (int i = 0; i < 300; i++) {
    pthread_barrier_wait(&together);
    on_nxp();
    pthread_barrier_wait(&together);
  }
  return arg;
}

int main(void) {
  int x[2], n = 7, missed = 0;
  pthread_t t;
  printf("%d %d %ld %f", plain(x), kept(8), hidden(40), floating(3));
  printf(" %d %d\n", waiting(&n), fences(x));
  pthread_barrier_init(&together, NULL, 2);
  pthread_create(&t, NULL, other, NULL);
  for (int i = 0; i < 300; i++) {
    mine[0] = mine[1] = 0;
    pthread_barrier_wait(&together);
    on_host();
    pthread_barrier_wait(&together);
    missed += !seen[0] && !seen[1];
  }
  pthread_join(t, NULL);
  printf("order %d\n", missed);
}
