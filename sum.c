#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 7, NUMBERS = 700000 };

static void *sum(void *first) {
  long total = 0;
  for (long n = (long)first; n < NUMBERS; n += THREADS)
    total += n;
  return (void *)total;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long n = 0; n < THREADS; n++)
    pthread_create(&threads[n], NULL, sum, (void *)n);
  long total = 0;
  for (int n = 0; n < THREADS; n++) {
    void *part;
    pthread_join(threads[n], &part);
    total += (long)part;
  }
  printf("%ld user harts: %ld\n", sysconf(_SC_NPROCESSORS_ONLN), total);
  return 0;
}
