// How a program starts and ends: arguments, thread-local data of the first thread, constructors.
#include <flick/card.h>
#include <stdlib.h>
#include <unistd.h>

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

__attribute__((noreturn)) void __card_start(const struct flick_program_start *start) {
  flick_program = *start;
  __card_first_thread();
  __card_begin_streams();
  int argc = start->arguments;
  char *text = (char *)start->text;
  // The pointers are on the stack, below all that main has there.
  char *argv[argc + 1];
  for (int n = 0; n < argc; n++) {
    argv[n] = text;
    while (*text++)
      ;
  }
  argv[argc] = NULL;
  __libc_init_array();
  exit(main(argc, argv, environ));
}

void _exit(int status) {
  flick_process_end(0, status & 0xff);
  for (;;)
    flick_thread_yield();
}
