// pthread_cleanup_push in NxP code, in C, where it is a setjmp: cancelled in a host call, left by
// pthread_exit, and popped.
// LIBS: -pthread
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static char trace[32];
static int used;
static void note(void *what) { trace[used++] = *(char *)what; }
static char a = 'a', b = 'b', c = 'c';

FLICK_HOST static void wait_here(void) {
  pthread_cancel(pthread_self());
  for (;;)
    pause();
}
FLICK_NXP static void inner(int how) {
  pthread_cleanup_push(note, &c);
  if (how == 0)
    wait_here();
  if (how == 1)
    pthread_exit(&a);
  pthread_cleanup_pop(how == 2);
}
FLICK_HOST static void middle(int how) {
  pthread_cleanup_push(note, &b);
  inner(how);
  pthread_cleanup_pop(0);
}
FLICK_NXP static void *start(void *how) {
  pthread_cleanup_push(note, &a);
  middle(*(int *)how);
  pthread_cleanup_pop(1);
  return &b;
}

int main(void) {
  for (int how = 0; how < 3; how++) {
    pthread_t t;
    void *r;
    used = 0;
    pthread_create(&t, NULL, start, &how);
    pthread_join(t, &r);
    trace[used] = 0;
    printf("%s %d\n", trace, r == PTHREAD_CANCELED ? 1 : r == &a ? 2 : 3);
  }
}
