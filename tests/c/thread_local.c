// Thread-local variables, of this unit and static, used by NxP code in several threads. Expects
// each thread's own object, the same one on both sides.
// OUT: 10942 19042 27142
// OUT: 103 206 main 1
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

_Thread_local int level = 3;
static _Thread_local long array[4];
static _Thread_local const char *name = "unset";

FLICK_NXP static int *take(void) { return &level; }
FLICK_NXP static long work(int by, const char *who) {
  level += by;
  for (int i = 0; i < 4; i++)
    array[i] += level * (i + 1);
  name = who;
  return array[3];
}

static void *thread(void *arg) {
  long *result = arg;
  *result = work((int)*result, "thread");
  *result = work(1, "thread");
  *result = *result * 100 + level * 10 + (take() == &level) + (name[0] == 't');
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  long results[3] = {10, 20, 30};
  work(100, "main");
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, thread, &results[i]);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  printf("%ld %ld %ld\n", results[0], results[1], results[2]);
  printf("%d %ld %s %d\n", level, array[1], name, take() == &level);
}
