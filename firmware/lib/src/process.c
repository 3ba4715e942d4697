// What programs expect of a process.
#include <errno.h>
#include <flick/card.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include "server_call.h"

pid_t getpid(void) {
  uint64_t parent;
  return flick_process_self(&parent);
}

// A signal ends a child: there are no handlers for signals of other processes. picolibc's raise
// calls the program's handler, or comes here.
int kill(pid_t process, int number) {
  static _Thread_local bool is_raised;
  if (process != getpid()) {
    struct card_request request = {.operation = PROCESS_KILL,
                                   .arguments = {(uint32_t)process, number}};
    struct card_reply reply;
    int64_t result = card_has_servers() ? __card_server_call(&request, &reply) : -ESRCH;
    if (result == 0)
      return 0;
    errno = -result;
    return -1;
  }
  if (is_raised)
    _exit(128 + number);
  is_raised = true;
  int result = raise(number);
  is_raised = false;
  return result;
}

long sysconf(int name) {
  switch (name) {
  case _SC_NPROCESSORS_CONF:
  case _SC_NPROCESSORS_ONLN:
    return flick_program.harts;
  case _SC_PAGESIZE:
    return FLICK_PAGE;
  }
  errno = EINVAL;
  return -1;
}

int getpagesize(void) { return FLICK_PAGE; }
