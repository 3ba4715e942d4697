// A mutex and a condition variable shared by NxP and host threads, locked and waited for by NxP
// code through the C library.
// OUT: 200 0 19900
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queue[4], count, produced, sum;
enum { TOTAL = 200 };

FLICK_NXP static void put(int value) {
  pthread_mutex_lock(&mutex);
  while (count == 4)
    pthread_cond_wait(&changed, &mutex);
  queue[count++] = value;
  produced++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}
FLICK_NXP static void *consumer(void *arg) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (count == 0 && produced < TOTAL)
      pthread_cond_wait(&changed, &mutex);
    if (count == 0)
      break;
    sum += queue[--count];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_unlock(&mutex);
  return arg;
}
FLICK_HOST static void *producer(void *arg) {
  for (int i = *(int *)arg; i < TOTAL; i += 2)
    put(i);
  return NULL;
}

int main(void) {
  pthread_t c[2], p[2];
  int start[] = {0, 1};
  for (int i = 0; i < 2; i++) {
    pthread_create(&c[i], NULL, consumer, NULL);
    pthread_create(&p[i], NULL, producer, &start[i]);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(c[i], NULL);
    pthread_join(p[i], NULL);
  }
  printf("%d %d %d\n", produced, count, sum);
}
