// A thread whose stack is full ends the program, and the kernel says why.
// STATUS: not 0
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

// `most` is never reached.
__attribute__((noinline)) static long without_end(long depth, volatile long *most) {
  return depth < *most ? without_end(depth + 1, most) + *most : 0;
}

static void *work(void *unused) {
  (void)unused;
  volatile long most = LONG_MAX;
  return (void *)without_end(0, &most);
}

int main(void) {
  printf("before\n");
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  printf("behind\n");
  return 0;
}
