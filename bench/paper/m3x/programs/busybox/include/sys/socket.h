/* No program here has sockets; libbb.h names them. */
#pragma once
#include <sys/types.h>
typedef unsigned socklen_t;
struct sockaddr {
  unsigned short sa_family;
  char sa_data[14];
};
enum { SOCK_STREAM = 1, SOCK_DGRAM, SOCK_RAW, SOCK_RDM, SOCK_SEQPACKET };
enum { AF_UNSPEC = 0, AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10 };
int socket(int, int, int);
int bind(int, const struct sockaddr *, socklen_t);
int listen(int, int);
ssize_t sendto(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
