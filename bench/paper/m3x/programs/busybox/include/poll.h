#pragma once
struct pollfd {
  int fd;
  short events, revents;
};
typedef unsigned long nfds_t;
int poll(struct pollfd *, nfds_t, int);
enum { POLLIN = 1, POLLOUT = 4, POLLERR = 8, POLLHUP = 16 };
