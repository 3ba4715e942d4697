// The first thread may end before others: the program ends with the last one.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *later(void *argument) {
  (void)argument;
  usleep(2000);
  printf("the last thread\n");
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, later, NULL);
  printf("the first thread ends\n");
  pthread_exit(NULL);
}
