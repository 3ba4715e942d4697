// The first block of NxP-local memory is asked for in a thread which the C library has made for a
// timer, and which ends. Then come the main thread and others.
#include <flick.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sem_t done;

FLICK_NXP __attribute__((noinline)) static long fill(long size) {
  char *block = malloc(size);
  memset(block, 1, size);
  long sum = 0;
  for (long i = 0; i < size; i++)
    sum += block[i];
  free(block);
  return sum;
}

static void expired(union sigval value) {
  long *sum = value.sival_ptr;
  char *block = flick_alloc(FLICK_MEM_NXP, 1000);
  memset(block, 1, 1000);
  *sum = block[999];
  free(block);
  sem_post(&done);
}

static void *many(void *argument) {
  long *sum = argument;
  for (int i = 1; i <= 100; i++)
    *sum += fill(i * 100);
  return NULL;
}

int main(void) {
  long sums[9] = {0};
  sem_init(&done, 0, 0);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD};
  event.sigev_value.sival_ptr = &sums[0];
  event.sigev_notify_function = expired;
  timer_t timer;
  struct itimerspec soon = {.it_value = {0, 1000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL))
    return 1;
  while (sem_wait(&done))
    ;
  sums[1] = fill(2000);
  for (int round = 0; round < 20; round++) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
      pthread_create(&threads[i], NULL, many, &sums[2 + i]);
    for (int i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < 6; i++)
    printf("%ld\n", sums[i]);
  return 0;
}
