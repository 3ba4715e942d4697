// Requests to the servers from many threads at once: those that wait and those that do not, with a
// file, a pipe and children for each thread.
// SERVERS: yes
#include <fcntl.h>
#include <flick/servers.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 20, SIZE = 20000 };

// What a thread got wrong. No two harts store to one line.
static struct {
  _Alignas(64) int count;
} failures[2 * THREADS];

// Writes a file, reads it back, and removes it.
static int use_file(int number, int round) {
  char name[20], bytes[SIZE], back[SIZE];
  snprintf(name, sizeof name, "file %d", number);
  memset(bytes, number * ROUNDS + round, sizeof bytes);
  int file = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
  int wrong = write(file, bytes, sizeof bytes) != sizeof bytes;
  wrong += pread(file, back, sizeof back, 0) != sizeof back;
  wrong += memcmp(bytes, back, sizeof back) != 0;
  close(file);
  return wrong + unlink(name);
}

static int use_child(int number, int round) {
  char status_text[8];
  int status = -1;
  snprintf(status_text, sizeof status_text, "%d", number + round);
  pid_t child;
  if (posix_spawn(&child, "requests", NULL, NULL, (char *[]){"requests", status_text, NULL}, NULL))
    return 1;
  return waitpid(child, &status, 0) != child || WEXITSTATUS(status) != number + round;
}

static void *worker(void *argument) {
  int number = (int)(intptr_t)argument;
  char name[20];
  snprintf(name, sizeof name, "name %d", number);
  // One thread of the other kind waits for the name.
  flick_name_register(name, (struct flick_address){0, number});
  for (int round = 0; round < ROUNDS; round++) {
    failures[number].count += use_file(number, round);
    if (round % 10 == number)
      failures[number].count += use_child(number, round);
  }
  return NULL;
}

static int ends[THREADS][2];

static void *reader(void *argument) {
  int number = (int)(intptr_t)argument, wrong = 0;
  struct flick_address address;
  char name[20];
  snprintf(name, sizeof name, "name %d", number);
  wrong += flick_name_look_up(name, FLICK_FOR_EVER, &address) || address.port != (unsigned)number;
  long sum = 0;
  unsigned char bytes[100];
  for (ssize_t got; (got = read(ends[number][0], bytes, sizeof bytes)) > 0;)
    for (ssize_t n = 0; n < got; n++)
      sum += bytes[n];
  failures[THREADS + number].count = wrong + (sum != 3l * SIZE);
  return NULL;
}

int main(int count, char **words) {
  if (count > 1)
    return atoi(words[1]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_t threads[2 * THREADS];
  for (intptr_t n = 0; n < THREADS; n++) {
    pipe(ends[n]);
    fcntl(ends[n][0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[n][1], F_SETFD, FD_CLOEXEC);
    pthread_create(&threads[THREADS + n], &attributes, reader, (void *)n);
    pthread_create(&threads[n], &attributes, worker, (void *)n);
  }
  static char threes[SIZE];
  memset(threes, 3, sizeof threes);
  for (int n = 0; n < THREADS; n++) {
    if (write(ends[n][1], threes, sizeof threes) != sizeof threes)
      printf("pipe %d is not written\n", n);
    close(ends[n][1]);
  }
  int wrong = 0;
  for (int n = 0; n < 2 * THREADS; n++) {
    pthread_join(threads[n], NULL);
    if (failures[n].count)
      printf("thread %d: %d failures\n", n, failures[n].count);
    wrong += failures[n].count;
  }
  printf("%d threads, %d failures\n", 2 * THREADS, wrong);
  return wrong != 0;
}
