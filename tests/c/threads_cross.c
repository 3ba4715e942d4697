// Eight threads cross at the same time, each with its own NxP stack and recursion through both
// sides. Expects the single-threaded values.
// OUT: 78151 1
// OUT: 71911 1
// OUT: 85671 1
// OUT: 83591 1
// OUT: 82151 1
// OUT: 75911 1
// OUT: 89671 1
// OUT: 87591 1
// LIBS: -pthread
// CROSSINGS: host-to-nxp>=3200
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

FLICK_HOST static long host(int n, long x);
FLICK_NXP static long nxp(int n, long x) {
  long local[3] = {x, n, x ^ n};
  if (n == 0)
    return x;
  local[0] = host(n - 1, x * 3 + n);
  return local[0] + local[1] - local[2] % 5;
}
FLICK_HOST static long host(int n, long x) { return n == 0 ? x : nxp(n - 1, x - n) ^ n; }

static void *thread(void *arg) {
  long x = *(long *)arg;
  for (int i = 0; i < 40; i++)
    x = nxp(20, x) % 100000;
  *(long *)arg = x;
  return NULL;
}

int main(void) {
  pthread_t t[8];
  long x[8], alone[8];
  for (int i = 0; i < 8; i++)
    x[i] = alone[i] = i * 1000 + 7;
  for (int i = 0; i < 8; i++)
    pthread_create(&t[i], NULL, thread, &x[i]);
  for (int i = 0; i < 8; i++)
    pthread_join(t[i], NULL);
  for (int i = 0; i < 8; i++) {
    thread(&alone[i]);
    printf("%ld %d\n", x[i], x[i] == alone[i]);
  }
}
