// A program that is ended in the middle leaves nothing: its files, names, memory and waits go.
// SERVERS: yes
#include <errno.h>
#include <fcntl.h>
#include <flick/servers.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 40, SIZE = 100000 };

static void *wait_for_name(void *unused) {
  struct flick_address address;
  flick_name_look_up("never", FLICK_FOR_EVER, &address);
  return unused;
}

static void *wait_for_pipe(void *unused) {
  int ends[2];
  char byte;
  if (pipe(ends) == 0)
    read(ends[0], &byte, 1);
  return unused;
}

// Has one of each, and waits in three ways.
static int victim(void) {
  static char bytes[SIZE];
  int file = open("temporary", O_CREAT | O_RDWR, 0644);
  write(file, bytes, sizeof bytes);
  // The file is there until nobody has it open.
  unlink("temporary");
  flick_region_create("victim's", SIZE);
  memset(flick_region_map("victim's", FLICK_READ | FLICK_WRITE, 0, NULL), 1, SIZE);
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_name, NULL);
  pthread_create(&thread, NULL, wait_for_pipe, NULL);
  flick_name_register("victim", (struct flick_address){0, 1});
  flick_region_map("never", FLICK_READ, FLICK_FOR_EVER, NULL);
  return 0;
}

static uint64_t free_pages(void) {
  uint64_t all;
  return flick_memory_free(&all);
}

int main(int count, char **words) {
  (void)words;
  if (count > 1)
    return victim();
  uint64_t after_first = 0;
  int good = 0;
  for (int n = 0; n < ROUNDS; n++) {
    pid_t child;
    char *arguments[] = {"left_behind", "victim", NULL};
    int error = posix_spawn(&child, "left_behind", NULL, NULL, arguments, NULL);
    if (error)
      printf("spawn: %s\n", strerror(error));
    struct flick_address address;
    flick_name_look_up("victim", FLICK_FOR_EVER, &address);
    // Sometimes its threads wait already.
    if (n % 2)
      usleep(500);
    int status = 0;
    kill(child, SIGKILL);
    good += waitpid(child, &status, 0) == child && WIFSIGNALED(status);
    int gone = flick_name_look_up("victim", 0, &address) && errno == ETIMEDOUT;
    good += gone && !flick_region_map("victim's", FLICK_READ, 0, NULL);
    // The first rounds make tables and places in lists that stay.
    if (n == ROUNDS / 2)
      after_first = free_pages();
  }
  printf("%d of %d\n", good, 2 * ROUNDS);
  int64_t lost = after_first - free_pages();
  if (lost > 2)
    printf("%ld pages are missing\n", (long)lost);
  return 0;
}
