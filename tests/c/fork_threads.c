// fork while other threads run NxP code and allocate: the child, with its one thread, crosses and
// allocates without deadlock.
// OUT: 10
// LIBS: -pthread
// SKIP-VALGRIND: valgrind runs one thread at a time and the loop is long
#include <flick.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop;

FLICK_NXP static void *churn(void *arg) {
  while (!stop) {
    void *a = malloc(300), *b = malloc(5000);
    free(a);
    free(b);
  }
  return arg;
}
FLICK_NXP static int child_work(int n) {
  int sum = 0;
  for (int i = 0; i < 50; i++) {
    int *p = malloc((size_t)i * 100 + 4);
    *p = i + n;
    sum += *p;
    free(p);
  }
  return sum % 200;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], NULL, churn, NULL);
  int good = 0;
  for (int i = 0; i < 10; i++) {
    pid_t pid = fork();
    if (pid == 0)
      _exit(child_work(i));
    int status;
    waitpid(pid, &status, 0);
    good += WIFEXITED(status) && WEXITSTATUS(status) == (1225 + i * 50) % 200;
  }
  stop = 1;
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], NULL);
  printf("%d\n", good);
}
