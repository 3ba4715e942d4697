// What the programs here share.
#pragma once
#include <errno.h>
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int wrong;

static inline void expect(int is_good, const char *what) {
  if (is_good)
    return;
  printf("%s (%s; %s)\n", what, flick_error(), strerror(errno));
  __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static inline int opened(const char *path, int flags) {
  int number = flick_open(path, flags);
  expect(number >= 0, path);
  return number;
}

static inline void closes(int number, const char *what) { expect(flick_close(number) == 0, what); }

static inline size_t read_all(int number, void *to, size_t size) {
  size_t done = 0;
  for (ssize_t part; done < size && (part = read(number, (char *)to + done, size - done)) > 0;)
    done += part;
  return done;
}

static inline int write_all(int number, const void *from, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t part = write(number, (const char *)from + done, size - done);
    if (part < 0)
      return -1;
    done += part;
  }
  return 0;
}

static inline int conclude(void) {
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
