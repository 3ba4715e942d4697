// How a program starts and ends under Linux, as firmware/lib/src/start.c says it for the card.
#include <flick/card.h>
#include <stdlib.h>
#include <unistd.h>

#include "streams.h"
#include "system_calls.h"
#include "thread.h"

struct flick_program_start flick_program;

int main(int argc, char **argv, char **envp);
void __libc_init_array(void);
void _init(void) {}
void _fini(void) {}
void *__dso_handle = &__dso_handle;

extern char **environ;

// The clock of the machines of Figure 6, in hertz.
#define FREQUENCY 1000000000

__attribute__((noreturn)) void __card_start(const uint64_t *stack) {
  int argc = stack[0];
  // Numbers, and behind them the arguments and the environment.
  char **argv = (char **)(stack + 1);
  flick_program =
      (struct flick_program_start){.version = 1, .tiles = 1, .harts = 1, .frequency = FREQUENCY};
  __card_first_thread();
  __card_begin_streams();
  environ = argv + argc + 1;
  __libc_init_array();
  exit(main(argc, argv, environ));
}

void _exit(int status) {
  for (;;)
    linux_call(LINUX_EXIT_GROUP, status & 0xff, 0, 0, 0, 0, 0);
}

pid_t getpid(void) { return linux_call(LINUX_GETPID, 0, 0, 0, 0, 0, 0); }

// A signal of the program's own ends it.
int kill(pid_t process, int number) {
  (void)process;
  _exit(128 + number);
}

long sysconf(int name) {
  if (name == _SC_PAGESIZE)
    return FLICK_PAGE;
  if (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN)
    return 1;
  errno = EINVAL;
  return -1;
}

int getpagesize(void) { return FLICK_PAGE; }

// BusyBox's library has functions for other programs, which these do not call.
static int refuse(void) {
  errno = ENOSYS;
  return -1;
}

int pipe(int numbers[2]) {
  (void)numbers;
  return refuse();
}

pid_t waitpid(pid_t process, int *status, int options) {
  (void)process;
  (void)status;
  (void)options;
  return refuse();
}
