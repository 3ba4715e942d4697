/* The shell of the card: `shell [-c COMMANDS] [-w MARK] [-s WORD...]`. Without commands it reads
   lines from the console. With a mark it writes all files there at the end. The words are the file
   server's.
 */
#include "shell.h"
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_LINE = 1000, MOST_SERVER_WORDS = 16, SERVERS = 3 };
/* Where the shell begins. */
static const char FILES[] = "/srv/files", PIPES[] = "/srv/pipes", TERMINAL[] = "/srv/terminal";

extern char **environ;

void complain(const char *format, ...) {
  va_list arguments;
  char text[512];
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "shell: %s\n", text);
}

int fails(const char *what) {
  complain("%s: %s", what, strerror(errno));
  return -1;
}

/* What only the shell itself does. False: it is no such command. */
static bool is_own(const struct pipeline *pipeline, int *status, bool *ends) {
  const struct stage *stage = &pipeline->stages[0];
  if (pipeline->count != 1)
    return false;
  if (!strcmp(stage->words[0], "wait")) {
    *status = wait_for_background();
    return true;
  }
  if (!strcmp(stage->words[0], "cd")) {
    const char *path = stage->count > 1 ? stage->words[1] : FILES;
    *status = chdir(path) ? -fails(path) : 0;
    return true;
  }
  if (!strcmp(stage->words[0], "exit")) {
    if (stage->count > 1)
      *status = atoi(stage->words[1]);
    *ends = true;
    return true;
  }
  return false;
}

/* Runs the pipelines of a line. True: the shell ends. */
static bool run_line(const char *line, int *status) {
  static struct pipeline pipeline;
  for (bool ends = false;;) {
    switch (parse(&line, &pipeline, *status)) {
    case NOTHING:
      return false;
    case WRONG:
      *status = 2;
      return false;
    case PARSED:
      if (!is_own(&pipeline, status, &ends))
        *status = run_pipeline(&pipeline);
      if (ends)
        return true;
    }
  }
}

/* Lines of the console. */
static int run_console(void) {
  static char line[MOST_LINE + 2];
  int status = 0;
  for (;;) {
    printf("$ ");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
      return status;
    if (strlen(line) > MOST_LINE) {
      complain("a line has more than %d bytes", MOST_LINE);
      status = 2;
    } else if (run_line(line, &status)) {
      return status;
    }
  }
}

/* Starts a server. -1: it cannot be started. */
static pid_t serve(char *name, int count, char **words) {
  char *all[MOST_SERVER_WORDS + 2] = {name};
  pid_t server;
  for (int n = 0; n < count && n < MOST_SERVER_WORDS; n++)
    all[n + 1] = words[n];
  errno = posix_spawn(&server, name, NULL, NULL, all, environ);
  if (!errno)
    return server;
  complain("%s: %s", name, strerror(errno));
  return -1;
}

/* All that the shell needs of its servers: a name waits until its server is there. The standard
 * input is the terminal from then on, also of programs, so that each gets its lines. */
static bool find_servers(const pid_t servers[SERVERS]) {
  for (int n = 0; n < SERVERS; n++) {
    if (servers[n] < 0)
      return false;
  }
  int terminal = open(TERMINAL, O_RDONLY);
  bool is_there = terminal >= 0 && dup2(terminal, 0) == 0 && !chdir(FILES) &&
                  (!access(PIPES, R_OK) || errno != ENOENT);
  if (!is_there)
    fails("the servers");
  close(terminal);
  return is_there;
}

int main(int count, char **arguments) {
  const char *commands = NULL, *mark = NULL;
  int at = 1;
  if (at + 1 < count && !strcmp(arguments[at], "-c")) {
    commands = arguments[at + 1];
    at += 2;
  }
  if (at + 1 < count && !strcmp(arguments[at], "-w")) {
    mark = arguments[at + 1];
    at += 2;
  }
  if (at < count && strcmp(arguments[at], "-s")) {
    fprintf(stderr, "use: shell [-c COMMANDS] [-w MARK] [-s WORD...]\n");
    return 2;
  }
  at += at < count;
  uint64_t endpoints;
  if (flick_tile_find(0, 0, 0, &endpoints) == -FLICK_ENOSYS) {
    complain("the machine has no root, and so neither servers nor accelerators: take another "
             "one by --machine, such as accelerators");
    return 1;
  }
  pid_t servers[] = {serve("file-server", count - at, arguments + at),
                     serve("pipe-server", 0, NULL), serve("terminal-server", 0, NULL)};
  int status = 1;
  if (find_servers(servers)) {
    status = 0;
    if (commands)
      run_line(commands, &status);
    else
      status = run_console();
    wait_for_background();
    if (mark && save_files(mark, FILES))
      status = 1;
  }
  for (int n = 0; n < SERVERS; n++) {
    if (servers[n] >= 0 && !kill(servers[n], SIGKILL))
      waitpid(servers[n], NULL, 0);
  }
  return status;
}
