/* Programs as stages: those of the files here, and those that the machine was started with. */
#include "shell.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A name without a slash is of a program that the machine was started with, as in Unix's PATH. */
const char *find_program(const char *name, char *path, size_t size) {
  if (strchr(name, '/'))
    return name;
  if ((size_t)snprintf(path, size, "/%s", name) >= size || access(path, X_OK))
    return NULL;
  return path;
}

/* Adds a file to what the program gets. */
static int add(posix_spawn_file_actions_t *actions, int number, int from, const char *path,
               int flags) {
  if (path)
    return posix_spawn_file_actions_addopen(actions, number, path, flags, 0666);
  return from < 0 ? 0 : posix_spawn_file_actions_adddup2(actions, from, number);
}

pid_t start_program(const char *path, char *const *words, const struct ends *ends) {
  posix_spawn_file_actions_t actions;
  pid_t program;
  errno = posix_spawn_file_actions_init(&actions);
  if (errno)
    return fails(words[0]);
  int error = add(&actions, 0, ends->in, ends->in_path, O_RDONLY);
  if (!error)
    error = add(&actions, 1, ends->out, ends->out_path, ends->out_flags);
  if (!error)
    error = posix_spawn(&program, path, &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error ? fails(words[0]) : program;
}

int wait_for_program(const char *name, pid_t program) {
  int status;
  if (waitpid(program, &status, 0) < 0)
    return -fails(name);
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  complain("%s has ended by signal %d", name, WTERMSIG(status));
  return 128 + WTERMSIG(status);
}
