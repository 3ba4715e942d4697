// poll and select. Files have different servers, so that no single wait is for all of them: they
// are asked again, at intervals that grow.
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/select.h>

#include "console.h"
#include "file_table.h"
#include "files.h"
#include "server_numbers.h"

// Microseconds between two looks.
#define FIRST_INTERVAL 20
#define MOST_INTERVAL 1000

// Bits of FLICK_FILES_READY_READ and kin, or the negative number of an error.
static int64_t ready(int number) {
  if (__card_is_console_input(number))
    return FLICK_FILES_READY_WRITE | (__card_console_ready() ? FLICK_FILES_READY_READ : 0);
  return CALL(FILE_READY, NO_BYTES, number);
}

static short events_of(int64_t bits) {
  if (bits < 0)
    return bits == -EBADF ? POLLNVAL : POLLERR;
  bool reads = bits & FLICK_FILES_READY_READ, writes = bits & FLICK_FILES_READY_WRITE;
  short events = (reads ? POLLIN | POLLRDNORM : 0) | (writes ? POLLOUT | POLLWRNORM : 0);
  // A reader has the rest, and a writer nobody who reads.
  if (bits & FLICK_FILES_READY_GONE)
    events |= writes ? POLLERR : POLLHUP;
  return events;
}

static int look(struct pollfd files[], nfds_t count) {
  int found = 0;
  for (nfds_t n = 0; n < count; n++) {
    short events = files[n].fd < 0 ? 0 : events_of(ready(files[n].fd));
    files[n].revents = events & (files[n].events | POLLERR | POLLHUP | POLLNVAL);
    found += files[n].revents != 0;
  }
  return found;
}

int poll(struct pollfd files[], nfds_t count, int milliseconds) {
  uint64_t frequency = flick_program.frequency, interval = FIRST_INTERVAL;
  uint64_t end =
      milliseconds < 0 ? FLICK_FOR_EVER : flick_time() + (uint64_t)milliseconds * frequency / 1000;
  for (;;) {
    int found = look(files, count);
    uint64_t now = flick_time();
    if (found || now >= end)
      return found;
    uint64_t next = now + interval * frequency / 1000000;
    flick_thread_sleep(next < end ? next : end);
    interval = interval * 2 < MOST_INTERVAL ? interval * 2 : MOST_INTERVAL;
  }
}

static int milliseconds_of(const struct timeval *time) {
  if (!time)
    return -1;
  return time->tv_sec > INT32_MAX / 1000 - 1 ? INT32_MAX
                                             : time->tv_sec * 1000 + (time->tv_usec + 999) / 1000;
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *time) {
  struct pollfd files[FD_SETSIZE];
  nfds_t used = 0;
  if (count < 0 || count > FD_SETSIZE) {
    errno = EINVAL;
    return -1;
  }
  for (int number = 0; number < count; number++) {
    short events = (reads && FD_ISSET(number, reads) ? POLLIN : 0) |
                   (writes && FD_ISSET(number, writes) ? POLLOUT : 0);
    if (events)
      files[used++] = (struct pollfd){.fd = number, .events = events};
  }
  if (poll(files, used, milliseconds_of(time)) < 0)
    return -1;
  int found = 0;
  for (nfds_t n = 0; n < used; n++) {
    if (files[n].revents & POLLNVAL) {
      errno = EBADF;
      return -1;
    }
  }
  if (others)
    FD_ZERO(others);
  for (nfds_t n = 0; n < used; n++) {
    int number = files[n].fd;
    bool is_over = files[n].revents & (POLLERR | POLLHUP);
    if (files[n].events & POLLIN && !(files[n].revents & POLLIN) && !is_over)
      FD_CLR(number, reads);
    else
      found += (files[n].events & POLLIN) != 0;
    if (files[n].events & POLLOUT && !(files[n].revents & POLLOUT) && !is_over)
      FD_CLR(number, writes);
    else
      found += (files[n].events & POLLOUT) != 0;
  }
  return found;
}
