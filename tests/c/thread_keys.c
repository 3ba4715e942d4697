// pthread_once and a thread-specific value whose initialiser and destructor are NxP functions.
// OUT: 1 6 105
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static atomic_int made, destroyed, sum;

FLICK_NXP static void destroy(void *p) {
  destroyed++;
  sum += *(int *)p;
  free(p);
}
FLICK_NXP static void initialise(void) {
  made++;
  pthread_key_create(&key, destroy);
}
FLICK_NXP static int *slot(void) {
  pthread_once(&once, initialise);
  int *p = pthread_getspecific(key);
  if (!p) {
    p = calloc(1, sizeof *p);
    pthread_setspecific(key, p);
  }
  return p;
}
static void *thread(void *arg) {
  for (int i = 0; i < 5; i++)
    *slot() += *(int *)arg;
  return NULL;
}

int main(void) {
  pthread_t t[6];
  int v[6];
  for (int i = 0; i < 6; i++) {
    v[i] = i + 1;
    pthread_create(&t[i], NULL, thread, &v[i]);
  }
  for (int i = 0; i < 6; i++)
    pthread_join(t[i], NULL);
  printf("%d %d %d\n", made, destroyed, sum);
}
