// The end of a program: functions of atexit, in any number, then streams.
#include <stdio.h>
#include <stdlib.h>
#include <sys/lock.h>
#include <unistd.h>

#include "cache.h"

struct handler {
  void (*function)(void *);
  void *argument;
  struct handler *next;
};

static struct {
  _Alignas(CARD_LINE) struct handler *first;
} handlers;

// Of picolibc: calls the functions of .fini_array.
void __libc_fini_array(void);

int __cxa_atexit(void (*function)(void *), void *argument, void *module) {
  (void)module;
  struct handler *handler = malloc(sizeof *handler);
  if (!handler)
    return -1;
  handler->function = function;
  handler->argument = argument;
  __LIBC_LOCK();
  handler->next = handlers.first;
  handlers.first = handler;
  __LIBC_UNLOCK();
  return 0;
}

static void call_plain(void *function) { ((void (*)(void))function)(); }

int atexit(void (*function)(void)) { return __cxa_atexit(call_plain, (void *)function, NULL); }

void exit(int status) {
  for (;;) {
    __LIBC_LOCK();
    struct handler *handler = handlers.first;
    if (handler)
      handlers.first = handler->next;
    __LIBC_UNLOCK();
    if (!handler)
      break;
    handler->function(handler->argument);
    free(handler);
  }
  __libc_fini_array();
  fflush(NULL);
  _exit(status);
}
