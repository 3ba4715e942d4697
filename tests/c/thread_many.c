// Two hundred threads, one after another and in groups, each crossing once: NxP stacks of threads
// that ended must come back.
// OUT: 22836
// LIBS: -pthread
// CROSSINGS: host-to-nxp=200
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

FLICK_NXP static long work(long n) {
  char filler[5000];
  for (unsigned i = 0; i < sizeof filler; i++)
    filler[i] = (char)(n + i);
  return filler[n % 5000] + n;
}
static void *thread(void *arg) {
  *(long *)arg = work(*(long *)arg);
  return NULL;
}

int main(void) {
  long sum = 0;
  for (int group = 0; group < 20; group++) {
    pthread_t t[10];
    long v[10];
    for (int i = 0; i < 10; i++) {
      v[i] = group * 10 + i;
      if (pthread_create(&t[i], NULL, thread, &v[i]))
        return 1;
      if (group % 2)
        pthread_join(t[i], NULL);
    }
    for (int i = 0; i < 10; i++) {
      if (group % 2 == 0)
        pthread_join(t[i], NULL);
      sum += v[i];
    }
  }
  printf("%ld\n", sum);
}
