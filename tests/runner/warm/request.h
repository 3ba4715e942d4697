/* A command for a warm tool: what its process would have got from execve(), sent over a socket. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { STDIN, STDOUT, STDERR, CWD, FDS };

struct request {
  int fds[FDS];
  mode_t umask;
  char **argv;
  char **envp;
};

/* Has the server behind the socket at `path` carry the command out, with this process's standard
   streams, working directory and umask. False where there is no server, or it has gone. */
bool request_send(const char *path, char **argv, char **envp, int *wait_status);

/* The server's side. It returns false if the client has gone. The request is never freed. */
bool request_receive(int connection, struct request *);

/* Ends this process as the one with that wait status ended. */
_Noreturn void end_as(int wait_status);

#endif
