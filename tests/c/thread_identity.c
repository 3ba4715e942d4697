// One errno and one object of each thread-local variable for both sides, in every thread: their
// addresses are equal wherever they are taken, with large alignment, initial values and in arrays,
// and errno is what the C library last set, on whichever side it was called.
// OUT: main 1111 11 1 1
// OUT: thread 1111 11 1 1
// OUT: thread 1111 11 1 1
// OUT: apart 1 1
// LIBS: -pthread
#include <errno.h>
#include <fcntl.h>
#include <flick.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

struct wide {
  _Alignas(64) long head;
  char tail[40];
};
_Thread_local int counter = 7;
static _Thread_local struct wide wide = {.head = 5};
static _Thread_local char bytes[3] = {1, 2, 3};

struct addresses {
  int *error, *counter;
  struct wide *wide;
  char *last;
};
FLICK_NXP static struct addresses nxp_view(void) {
  return (struct addresses){&errno, &counter, &wide, &bytes[2]};
}
FLICK_HOST static struct addresses host_view(void) {
  return (struct addresses){&errno, &counter, &wide, &bytes[2]};
}
FLICK_NXP static int nxp_fails(void) {
  return open("/nonexistent/file", O_RDONLY) < 0 && close(-1) < 0;
}
FLICK_HOST static int host_fails(void) { return open("/nonexistent/file", O_RDONLY) < 0; }
// errno across crossings: set below, read above, kept by calls that succeed.
FLICK_NXP static int kept(void) {
  int good = nxp_fails() && errno == EBADF;
  good += host_fails() && errno == ENOENT;
  getppid();
  good += errno == ENOENT;
  errno = ERANGE;
  return good == 3;
}

static struct addresses seen[3];
static void *look(void *number) {
  struct addresses h = host_view(), n = nxp_view();
  int same = 1000 * (h.error == n.error) + 100 * (h.counter == n.counter) +
             10 * (h.wide == n.wide) + (h.last == n.last);
  int whole =
      10 * ((uintptr_t)n.wide % 64 == 0) + (*n.counter == 7 && n.wide->head == 5 && *n.last == 3);
  int keeps = kept() && errno == ERANGE;
  *n.counter = *(int *)number + 20;
  seen[*(int *)number] = n;
  printf("%s %d %d %d %d\n", *(int *)number ? "thread" : "main", same, whole, keeps,
         counter == *(int *)number + 20);
  return NULL;
}

int main(void) {
  int number[3] = {0, 1, 2};
  look(&number[0]);
  for (int i = 1; i < 3; i++) {
    pthread_t t;
    pthread_create(&t, NULL, look, &number[i]);
    pthread_join(t, NULL);
  }
  printf("apart %d %d\n", seen[0].counter != seen[1].counter && seen[0].error != seen[1].error,
         counter == 20);
}
