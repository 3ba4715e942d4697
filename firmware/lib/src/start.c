// How a program starts and ends: arguments, environment, thread-local data of the first thread,
// constructors.
#include <flick/card.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "server_call.h"
#include "streams.h"
#include "thread.h"

struct flick_program_start flick_program;

int main(int argc, char **argv, char **envp);
// Of picolibc: calls the functions of .init_array.
void __libc_init_array(void);
// .init and .fini are empty in these programs, and picolibc calls them.
void _init(void) {}
void _fini(void) {}

// What __cxa_atexit has as the module.
void *__dso_handle = &__dso_handle;

extern char **environ;

// Texts with a zero byte each. Returns what is behind them.
static char *split(char *text, char **to, size_t count) {
  for (size_t n = 0; n < count; n++) {
    to[n] = text;
    while (*text++)
      ;
  }
  to[count] = NULL;
  return text;
}

// Takes a variable out of the environment. NULL: it is not there.
static const char *take(char **variables, const char *name) {
  size_t size = strlen(name);
  for (; *variables; variables++) {
    if (strncmp(*variables, name, size))
      continue;
    const char *value = *variables + size;
    for (; *variables; variables++)
      variables[0] = variables[1];
    return value;
  }
  return NULL;
}

__attribute__((noreturn)) void __card_start(const struct flick_program_start *start) {
  flick_program = *start;
  __card_first_thread();
  const struct card_spawned_start *spawned =
      start->version == SPAWNED_VERSION ? (const struct card_spawned_start *)start : NULL;
  if (spawned)
    __card_begin_servers(spawned);
  __card_begin_files(spawned);
  __card_begin_streams();
  int argc = start->arguments;
  // Behind the record in both kinds that have an environment.
  bool has_environment = spawned || start->version == FLICK_START_WITH_ENVIRONMENT;
  size_t variables = has_environment ? ((const struct card_spawned_start *)start)->environment : 0;
  // The pointers are on the stack, below all that main has there.
  char *argv[argc + 1], *envp[variables + 1];
  char *behind = split((char *)start->text, argv, argc);
  split(behind, envp, variables);
  if (variables)
    environ = envp;
  const char *opened = take(envp, SPAWNED_FILES);
  if (opened)
    __card_open_spawned_files(opened);
  __libc_init_array();
  exit(main(argc, argv, environ));
}

void _exit(int status) {
  __card_end_server_files();
  flick_process_end(0, status & 0xff);
  for (;;)
    flick_thread_yield();
}
