/* Makes a tool warm. Most of the time of a small compile or link goes into the start of clang or
   lld: the dynamic loader applies half a million relocations and dirties thousands of pages. Loaded
   by LD_PRELOAD, this stops the tool in front of main() and forks a process for every command that
   a client sends; from there on it is the tool that the user has. */
#define _GNU_SOURCE
#include "request.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);
typedef int start_main_function(main_function *, int, char **, void (*)(void), void (*)(void),
                                void (*)(void), void *);
typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, char *const[], char *const[]);

/* The listening socket is the server's standard input, which no command inherits. */
enum { LISTENER = STDIN_FILENO, JOBS = 100 };

static main_function *tool_main;
static const char *socket_path;

static struct {
  pid_t pid;
  int connection;
} jobs[JOBS];
static size_t running;

static _Noreturn void carry_out(const struct request *request) {
  int argc = 0;
  while (request->argv[argc])
    argc++;
  for (int fd = STDIN; fd <= STDERR; fd++)
    dup2(request->fds[fd], fd);
  if (fchdir(request->fds[CWD]) != 0)
    _exit(127);
  for (size_t i = 0; i < FDS; i++)
    close(request->fds[i]);
  umask(request->umask);
  environ = request->envp;
  exit(tool_main(argc, request->argv, request->envp));
}

/* Takes a command from the listener and starts it. */
static void start(struct pollfd *polled) {
  int connection = accept4(LISTENER, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0)
    return;
  pid_t pid = fork();
  if (pid == 0) {
    struct request request;
    for (size_t i = 0; i < running; i++) {
      close(jobs[i].connection);
      close(polled[1 + 2 * i].fd);
    }
    if (!request_receive(connection, &request))
      _exit(127);
    close(connection);
    carry_out(&request);
  }
  int ended = pid < 0 ? -1 : pidfd_open(pid, 0);
  if (ended < 0) {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, NULL, 0);
    }
    close(connection);
    return;
  }
  /* So that all that the command starts can be ended with it. */
  setpgid(pid, pid);
  jobs[running].pid = pid;
  jobs[running].connection = connection;
  polled[1 + 2 * running] = (struct pollfd){.fd = ended, .events = POLLIN};
  /* Nothing is read here: only the end of the client is of interest. */
  polled[2 + 2 * running] = (struct pollfd){.fd = connection, .events = POLLRDHUP};
  running++;
}

static void finish(size_t job, struct pollfd *polled) {
  int status = 0;
  waitpid(jobs[job].pid, &status, 0);
  send(jobs[job].connection, &status, sizeof status, MSG_NOSIGNAL);
  close(jobs[job].connection);
  close(polled[1 + 2 * job].fd);
  running--;
  jobs[job] = jobs[running];
  polled[1 + 2 * job] = polled[1 + 2 * running];
  polled[2 + 2 * job] = polled[2 + 2 * running];
}

static _Noreturn void serve(void) {
  struct pollfd polled[1 + 2 * JOBS];
  polled[0] = (struct pollfd){.fd = LISTENER, .events = POLLIN};
  for (;;) {
    polled[0].events = running < JOBS ? POLLIN : 0;
    if (poll(polled, 1 + 2 * running, -1) < 0)
      _exit(1);
    for (size_t job = running; job-- > 0;) {
      if (polled[2 + 2 * job].revents & (POLLRDHUP | POLLHUP | POLLERR))
        kill(-jobs[job].pid, SIGKILL);
      if (polled[1 + 2 * job].revents)
        finish(job, polled);
    }
    if (polled[0].revents & POLLIN)
      start(polled);
  }
}

static int warm_main(int argc, char **argv, char **envp) {
  (void)argc, (void)argv, (void)envp;
  socket_path = getenv("WARM_SOCKET");
  /* The server does not outlive the runner. */
  if (!socket_path || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    _exit(1);
  serve();
}

/* The program's start, in front of main(). */
int __libc_start_main(main_function *real, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  start_main_function *next = (start_main_function *)dlsym(RTLD_NEXT, "__libc_start_main");
  tool_main = real;
  return next(warm_main, argc, argv, init, fini, rtld_fini, stack_end);
}

static bool is_this_tool(const char *path) {
  struct stat theirs, ours;
  return stat(path, &theirs) == 0 && stat("/proc/self/exe", &ours) == 0 &&
         theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

static const char *value_of(char *const argv[], const char *option) {
  for (; argv[0] && argv[1]; argv++)
    if (strcmp(argv[0], option) == 0)
      return argv[1];
  return NULL;
}

/* The driver removes the objects of a link when it ends. Where a command has WARM_OBJECTS=PREFIX in
   its environment, they get second names: PREFIX0.o, PREFIX1.o, in the order of their compiles. */
static void keep_object(char *const argv[], unsigned number) {
  const char *prefix = getenv("WARM_OBJECTS"), *object = value_of(argv, "-o");
  char kept[PATH_MAX];
  if (!prefix || !object)
    return;
  int length = snprintf(kept, sizeof kept, "%s%u.o", prefix, number);
  if (length > 0 && (size_t)length < sizeof kept)
    link(object, kept);
}

/* clang's driver starts its front end, which is clang again. */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
  if (actions || attributes || !is_this_tool(path)) {
    spawn_function *next = (spawn_function *)dlsym(RTLD_NEXT, "posix_spawn");
    return next(pid, path, actions, attributes, argv, envp);
  }
  static unsigned compiles;
  bool compile = argv[1] && strcmp(argv[1], "-cc1") == 0;
  unsigned number = compiles;
  compiles += compile;
  *pid = fork();
  if (*pid == 0) {
    int status;
    char **environment = envp ? (char **)envp : environ;
    if (request_send(socket_path, (char **)argv, environment, &status)) {
      if (compile && status == 0)
        keep_object(argv, number);
      end_as(status);
    }
    execve(path, argv, environment);
    _exit(127);
  }
  return *pid < 0 ? errno : 0;
}
