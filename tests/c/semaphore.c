// Semaphores, a barrier and a read-write lock used by NxP threads beside host threads.
// OUT: hnhnhnhnhnhnhnhnhnhn 20 5 20
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

static sem_t ping, pong;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static char trace[64];
static int length;
static atomic_int inside, serial;
static int shared;

FLICK_NXP static void *player(void *arg) {
  for (int i = 0; i < 10; i++) {
    sem_wait(&ping);
    trace[length++] = *(char *)arg;
    sem_post(&pong);
  }
  pthread_barrier_wait(&barrier);
  return NULL;
}
FLICK_NXP static void *member(void *arg) {
  for (int i = 0; i < 5; i++) {
    inside++;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
      serial++;
    pthread_rwlock_rdlock(&rwlock);
    int seen = shared;
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_wrlock(&rwlock);
    shared += seen >= 0;
    pthread_rwlock_unlock(&rwlock);
  }
  return arg;
}

int main(void) {
  pthread_t t[4];
  char mark = 'n';
  sem_init(&ping, 0, 0);
  sem_init(&pong, 0, 0);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&t[0], NULL, player, &mark);
  for (int i = 0; i < 10; i++) {
    trace[length++] = 'h';
    sem_post(&ping);
    sem_wait(&pong);
  }
  pthread_barrier_wait(&barrier);
  pthread_join(t[0], NULL);
  pthread_barrier_destroy(&barrier);
  pthread_barrier_init(&barrier, NULL, 4);
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, member, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%s %d %d %d\n", trace, inside, serial, shared);
}
