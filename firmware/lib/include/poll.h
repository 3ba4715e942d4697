/* Waits for files: pipes and terminals, of the tile's servers and of those under /srv, and the
   console. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define POLLIN 1
#define POLLPRI 2
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16
#define POLLNVAL 32
#define POLLRDNORM 64
#define POLLWRNORM 256

typedef unsigned long nfds_t;

struct pollfd {
  int fd;
  short events, revents;
};

/* How many have something, within so many milliseconds; negative: for ever. */
int poll(struct pollfd files[], nfds_t count, int milliseconds);

#ifdef __cplusplus
}
#endif
