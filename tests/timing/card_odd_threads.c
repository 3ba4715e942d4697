/* Threads on harts of a card that do what the order of virtual time does not foresee, or only just:
 * `card_odd_threads FORM`. tests/timing/card_threads.sh knows what comes out. */
#include <flick.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 4096, MANY = 200 };

static uint64_t *nodes;
static int sockets[2];

FLICK_NXP __attribute__((noinline)) static uint64_t works(const uint64_t *nodes, uint64_t steps) {
  uint64_t at = 0;
  while (steps-- > 0)
    at = nodes[at];
  return at;
}

static void *sends(void *number) {
  works(nodes, 10000);
  send(sockets[1], "x", 1, 0);
  return number;
}

/* A host function that sleeps in the kernel until another thread has used the hart. */
FLICK_HOST __attribute__((noinline)) int receive(void) {
  char byte;
  return (int)recv(sockets[0], &byte, 1, 0);
}
FLICK_NXP __attribute__((noinline)) static int calls_receive(void) { return receive() + 1; }
static void *receives(void *number) {
  printf("received %d\n", calls_receive());
  return number;
}

/* A handler that does the same, over code on the hart. */
static volatile int at;
static pthread_t first;
static void sleeps(int signal) {
  (void)signal;
  fd_set set;
  FD_ZERO(&set);
  FD_SET(sockets[0], &set);
  at = select(sockets[0] + 1, &set, NULL, NULL, NULL) == 1 ? 2 : 3;
}
FLICK_NXP __attribute__((noinline)) static void spins(volatile int *at) {
  *at = 1;
  while (*at == 1)
    ;
}
static void *is_interrupted(void *number) {
  spins(&at);
  printf("at %d\n", at);
  return number;
}
static void *interrupts(void *number) {
  while (!at)
    works(nodes, 100);
  pthread_kill(first, SIGUSR1);
  return sends(number);
}

/* A handler that crosses, over a thread that waits for a lock. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int handled;
static void crosses(int signal) {
  (void)signal;
  works(nodes, 100);
  handled = 1;
}
static volatile long waiting;
static void *waits(void *number) {
  waiting = syscall(SYS_gettid);
  at = 1;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  works(nodes, 10);
  return number;
}
/* A signal for the process, which its sender does not block. */
static pthread_t handled_by;
static void notes(int signal) {
  (void)signal;
  handled_by = pthread_self();
  handled = 1;
}
static void *works_long(void *number) {
  works(nodes, 100000);
  return number;
}

/* A thread that ends over NxP code. */
FLICK_HOST __attribute__((noinline)) int leave(void) { pthread_exit((void *)7); }
FLICK_NXP __attribute__((noinline)) static int calls_leave(void) { return leave() + 1; }
static void *leaves(void *number) {
  calls_leave();
  return number;
}

static void *works_often(void *number) {
  for (int i = 0; i < 5; i++)
    works(nodes, 50 + (uint64_t)number);
  return (void *)7;
}

static pthread_t threads[MANY];
static void make(int number, void *(*run)(void *)) {
  if (pthread_create(&threads[number], NULL, run, (void *)(long)number) != 0)
    _exit(2);
  if (number == 0)
    first = threads[0];
}
static void join(int count) {
  void *result;
  long sum = 0;
  for (int i = 0; i < count; i++) {
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  printf("results %ld\n", sum);
}

int main(int count, char **arguments) {
  const char *form = count == 2 ? arguments[1] : "";
  nodes = flick_alloc(FLICK_MEM_NXP, NODES * sizeof *nodes);
  if (!nodes || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
    return 2;
  for (uint64_t i = 0; i < NODES; i++)
    nodes[i] = (i * 1021 + 1) % NODES;
  if (!strcmp(form, "receives")) {
    make(0, receives);
    make(1, sends);
    join(2);
  } else if (!strcmp(form, "sleeps")) {
    signal(SIGUSR1, sleeps);
    make(0, is_interrupted);
    make(1, interrupts);
    join(2);
  } else if (!strcmp(form, "crosses") || !strcmp(form, "crosses-in-order")) {
    signal(SIGUSR1, crosses);
    pthread_mutex_lock(&mutex);
    make(0, waits);
    make(1, works_long);
    make(2, works_long);
    while (!at)
      works(nodes, 10);
    works(nodes, 1000);
    /* The kernel's call is not in the order. */
    if (!strcmp(form, "crosses"))
      syscall(SYS_tgkill, getpid(), waiting, SIGUSR1);
    else
      pthread_kill(first, SIGUSR1);
    works(nodes, 1000);
    pthread_mutex_unlock(&mutex);
    join(3);
    printf("handled %d\n", handled);
  } else if (!strcmp(form, "itself")) {
    signal(SIGUSR1, notes);
    pthread_mutex_lock(&mutex);
    make(0, waits);
    while (!at)
      works(nodes, 10);
    kill(getpid(), SIGUSR1);
    printf("handled %d by itself %d\n", handled, pthread_equal(handled_by, pthread_self()) != 0);
    pthread_mutex_unlock(&mutex);
    join(1);
  } else if (!strcmp(form, "forks")) {
    for (int i = 0; i < 4; i++)
      make(i, works_long);
    works(nodes, 100);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
      _exit(works(nodes, 1) == 1 ? 5 : 6);
    int status;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    join(4);
  } else if (!strcmp(form, "leaves")) {
    for (int i = 0; i < 8; i++)
      make(i, leaves);
    join(8);
  } else if (!strcmp(form, "many")) {
    for (int i = 0; i < MANY; i++)
      make(i, works_often);
    join(MANY);
  } else {
    return 2;
  }
  flick_free(nodes);
  return 0;
}
