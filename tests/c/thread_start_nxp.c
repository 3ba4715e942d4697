// An NxP function as the start routine of threads, which NxP code creates and joins; results come
// back through pthread_join.
// OUT: 16
// OUT: 0 1136275 4862200
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

FLICK_NXP static void *start(void *arg) {
  uintptr_t n = (uintptr_t)arg, s = 0;
  for (uintptr_t i = 1; i <= n; i++)
    s += i * i;
  return (void *)s;
}
FLICK_NXP static int run(int threads, unsigned long *results) {
  pthread_t t[16];
  for (int i = 0; i < threads; i++)
    if (pthread_create(&t[i], NULL, start, (void *)(uintptr_t)(i * 10)))
      return -1;
  for (int i = 0; i < threads; i++) {
    void *r;
    if (pthread_join(t[i], &r))
      return -2;
    results[i] = (unsigned long)(uintptr_t)r;
  }
  return threads;
}

int main(void) {
  unsigned long r[16], sum = 0;
  printf("%d\n", run(16, r));
  for (int i = 0; i < 16; i++)
    sum += r[i];
  printf("%lu %lu %lu\n", r[0], r[15], sum);
}
