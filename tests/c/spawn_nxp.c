// posix_spawn from NxP code (a child that shares memory until it executes), with file actions,
// attributes and environment, from several threads at once while others run NxP code; atfork
// handlers on the NxP; a child that goes on crossing, starts threads and forks again.
// OUT: spawned 1 1 1
// OUT: threads 6
// OUT: family 7 12
// OUT: handlers 1 1 1
// LIBS: -pthread
// SKIP-VALGRIND: valgrind runs one thread at a time
#define _GNU_SOURCE
#include <fcntl.h>
#include <flick.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

FLICK_NXP static int status_of(pid_t pid) {
  int status;
  if (waitpid(pid, &status, 0) != pid)
    return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
FLICK_NXP static int shell(const char *script, char **env) {
  char *words[] = {"sh", "-c", (char *)script, NULL};
  pid_t pid;
  if (posix_spawnp(&pid, "sh", NULL, NULL, words, env))
    return -1;
  return status_of(pid);
}
FLICK_NXP static int captured(char *text, size_t room) {
  int ends[2];
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  char *words[] = {"/bin/sh", "-c", "echo from $0; read x || echo end", "spawn", NULL};
  pid_t pid;
  sigemptyset(&none);
  if (pipe(ends))
    return -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  int error = posix_spawn(&pid, words[0], &actions, &attributes, words, environ);
  close(ends[1]);
  size_t length = 0;
  for (ssize_t n; !error && (n = read(ends[0], text + length, room - length - 1)) > 0;)
    length += (size_t)n;
  text[length] = 0;
  close(ends[0]);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error ? -1 : status_of(pid);
}

static atomic_int stop;
FLICK_NXP static void *spin(void *arg) {
  while (!stop)
    free(malloc(100));
  return arg;
}
FLICK_NXP static void *spawner(void *arg) {
  char script[20];
  snprintf(script, sizeof script, "exit %d", *(int *)arg);
  *(int *)arg = shell(script, environ) == *(int *)arg;
  return NULL;
}

static int prepared, in_parent, in_child;
FLICK_NXP static void on_prepare(void) { prepared++; }
FLICK_NXP static void on_parent(void) { in_parent++; }
FLICK_NXP static void on_child(void) { in_child++; }

FLICK_NXP static void *add(void *arg) {
  *(int *)arg += 1;
  return NULL;
}
// The child crosses, runs a thread and has a child of its own.
FLICK_NXP static int generation(int depth) {
  pid_t pid = fork();
  if (pid)
    return status_of(pid);
  pthread_t t;
  int sum = depth;
  pthread_create(&t, NULL, add, &sum);
  pthread_join(t, NULL);
  _exit(depth ? sum + generation(depth - 1) : sum + (in_child == 3 ? 1 : 100));
}

int main(void) {
  char text[100], *env[] = {"PATH=/usr/bin:/bin", "MARK=5", NULL};
  int c = captured(text, sizeof text), s = shell("exit $MARK", env);
  int none = shell("kill -9 $$", environ);
  printf("spawned %d %d %d\n", c == 0 && strcmp(text, "from spawn\nend\n") == 0, s == 5,
         none == 1009);

  pthread_t busy, t[6];
  int v[6], good = 0;
  pthread_create(&busy, NULL, spin, NULL);
  for (int i = 0; i < 6; i++) {
    v[i] = i + 1;
    pthread_create(&t[i], NULL, spawner, &v[i]);
  }
  for (int i = 0; i < 6; i++) {
    pthread_join(t[i], NULL);
    good += v[i];
  }
  printf("threads %d\n", good);
  fflush(stdout);

  pthread_atfork(on_prepare, on_parent, on_child);
  int family = generation(2);
  stop = 1;
  pthread_join(busy, NULL);
  printf("family %d %d\n", family, system("exit 3") / 64);
  printf("handlers %d %d %d\n", prepared == 1, in_parent == 1, in_child == 0);
}
