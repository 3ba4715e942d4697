#define _GNU_SOURCE
#include "request.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Goes with the file descriptors; `bytes` of strings, each with its null, follow. */
struct header {
  size_t argc, envc, bytes;
  mode_t umask;
};

union ancillary {
  char room[CMSG_SPACE(FDS * sizeof(int))];
  struct cmsghdr align;
};

static size_t count(char **strings, size_t *bytes) {
  size_t n = 0;
  for (; strings[n]; n++)
    *bytes += strlen(strings[n]) + 1;
  return n;
}

static bool write_all(int fd, const char *data, size_t size) {
  while (size) {
    ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    data += n;
    size -= (size_t)n;
  }
  return true;
}

static bool read_all(int fd, void *data, size_t size) {
  return !size || recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

static bool send_with_fds(int connection, struct header header, const int fds[FDS]) {
  union ancillary control;
  memset(&control, 0, sizeof control);
  struct iovec part = {&header, sizeof header};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control.room};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(FDS * sizeof(int));
  memcpy(CMSG_DATA(rights), fds, FDS * sizeof(int));
  return sendmsg(connection, &message, MSG_NOSIGNAL) == (ssize_t)sizeof header;
}

static bool receive_with_fds(int connection, struct header *header, int fds[FDS]) {
  union ancillary control;
  struct iovec part = {header, sizeof *header};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control.room};
  if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != (ssize_t)sizeof *header)
    return false;
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  if (!rights || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(FDS * sizeof(int)))
    return false;
  memcpy(fds, CMSG_DATA(rights), FDS * sizeof(int));
  return true;
}

bool request_send(const char *path, char **argv, char **envp, int *wait_status) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path)
    return false;
  strcpy(address.sun_path, path);
  int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (connection < 0 || cwd < 0 ||
      connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
    return false;
  struct header header = {.umask = umask(0)};
  umask(header.umask);
  header.argc = count(argv, &header.bytes);
  header.envc = count(envp, &header.bytes);
  char *strings = malloc(header.bytes), *end = strings;
  if (!strings)
    return false;
  for (size_t i = 0; i < header.argc; i++)
    end = stpcpy(end, argv[i]) + 1;
  for (size_t i = 0; i < header.envc; i++)
    end = stpcpy(end, envp[i]) + 1;
  const int fds[FDS] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, cwd};
  return send_with_fds(connection, header, fds) && write_all(connection, strings, header.bytes) &&
         read_all(connection, wait_status, sizeof *wait_status);
}

static char **vector(char **strings, size_t n) {
  char **all = calloc(n + 1, sizeof *all);
  for (size_t i = 0; all && i < n; i++) {
    all[i] = *strings;
    *strings += strlen(*strings) + 1;
  }
  return all;
}

bool request_receive(int connection, struct request *request) {
  struct header header;
  if (!receive_with_fds(connection, &header, request->fds))
    return false;
  char *strings = malloc(header.bytes);
  if (!strings || !read_all(connection, strings, header.bytes))
    return false;
  request->umask = header.umask;
  request->argv = vector(&strings, header.argc);
  request->envp = vector(&strings, header.envc);
  return request->argv && request->envp;
}

void end_as(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    signal(WTERMSIG(wait_status), SIG_DFL);
    raise(WTERMSIG(wait_status));
  }
  _exit(WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1);
}
