// Programs that a program starts: status, arguments, environment, files that they inherit, pipes,
// and what fails.
// SERVERS: yes
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Each role is this program with other arguments.
static int play(int count, char **words) {
  const char *role = words[1];
  if (strcmp(role, "status") == 0)
    return atoi(words[2]);
  if (strcmp(role, "words") == 0) {
    for (int n = 2; n < count; n++)
      printf("word %d: <%s>\n", n, words[n]);
    printf("COLOR: %s\n", getenv("COLOR") ? getenv("COLOR") : "none");
    return 0;
  }
  if (strcmp(role, "upper") == 0) {
    for (int c; (c = getchar()) != EOF;)
      putchar(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return 0;
  }
  if (strcmp(role, "sleep") == 0)
    for (;;)
      pause();
  if (strcmp(role, "many") == 0) {
    for (int n = 0; n < 2000; n++)
      printf("line %d\n", n);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
  }
  return 99;
}

int pause(void) { return sleep(1000); }

static pid_t start(posix_spawn_file_actions_t *actions, char **words, char **variables) {
  pid_t child;
  int error = posix_spawn(&child, "spawn", actions, NULL, words, variables);
  if (error)
    printf("spawn: %s\n", strerror(error));
  return error ? -1 : child;
}

static int status_of(pid_t child) {
  int status = -1;
  if (waitpid(child, &status, 0) != child)
    printf("waitpid: %s\n", strerror(errno));
  return status;
}

static void ten_at_once(void) {
  pid_t children[10];
  for (int n = 0; n < 10; n++) {
    char number[8];
    sprintf(number, "%d", 20 * n);
    children[n] = start(NULL, (char *[]){"spawn", "status", number, NULL}, environ);
  }
  for (int n = 9; n >= 0; n--) {
    int status = status_of(children[n]);
    printf("child %d: exited %d, %d\n", n, WIFEXITED(status), WEXITSTATUS(status));
  }
  int status;
  printf("no child: %d, %s\n", wait(&status), strerror(errno));
}

static void words(void) {
  char *all[] = {"spawn", "words", "one two", "", "three", NULL};
  status_of(start(NULL, all, (char *[]){"COLOR=blue", NULL}));
  setenv("COLOR", "red", 1);
  status_of(start(NULL, (char *[]){"spawn", "words", NULL}, environ));
}

// Standard input of a file, and standard output to one.
static void redirected(void) {
  FILE *file = fopen("small", "w");
  fputs("some small letters\n", file);
  fclose(file);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "small", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "large", O_CREAT | O_WRONLY | O_TRUNC, 0644);
  int status = status_of(start(&actions, (char *[]){"spawn", "upper", NULL}, environ));
  posix_spawn_file_actions_destroy(&actions);
  char line[40] = "";
  file = fopen("large", "r");
  fgets(line, sizeof line, file);
  fclose(file);
  printf("status %d: %s", status, line);
}

// One program writes more than a pipe holds, and another reads it.
static void piped(void) {
  int ends[2];
  if (pipe(ends))
    printf("pipe: %s\n", strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t writer = start(&actions, (char *[]){"spawn", "many", NULL}, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  FILE *from = fdopen(ends[0], "r");
  char line[40], last[40] = "";
  int lines = 0;
  for (; fgets(line, sizeof line, from); lines++)
    strcpy(last, line);
  fclose(from);
  printf("%d lines, the last one: %s", lines, last);
  printf("the writer: %d\n", status_of(writer));
  // Nobody reads.
  if (pipe(ends) == 0) {
    close(ends[0]);
    ssize_t written = write(ends[1], "x", 1);
    printf("no reader: %zd, %s\n", written, strerror(errno));
    close(ends[1]);
  }
}

static void killed(void) {
  pid_t child = start(NULL, (char *[]){"spawn", "sleep", NULL}, environ);
  int status = -1;
  printf("not yet: %d\n", waitpid(child, &status, WNOHANG));
  printf("kill: %d\n", kill(child, SIGTERM));
  status = status_of(child);
  printf("signaled %d, %d\n", WIFSIGNALED(status), WTERMSIG(status));
  int result = kill(child, SIGTERM);
  printf("again: %d, %s\n", result, strerror(errno));
}

static void failures(void) {
  pid_t child;
  char *none[] = {"x", NULL};
  printf("missing: %s\n", strerror(posix_spawn(&child, "missing", NULL, NULL, none, environ)));
  printf("no program: %s\n", strerror(posix_spawn(&child, "small", NULL, NULL, none, environ)));
  static char large[20000];
  memset(large, 'x', sizeof large - 1);
  char *too_many[] = {"x", large, NULL};
  printf("too much: %s\n", strerror(posix_spawn(&child, "spawn", NULL, NULL, too_many, environ)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, 50, 1);
  printf("no file: %s\n", strerror(posix_spawn(&child, "spawn", &actions, NULL, none, environ)));
  posix_spawn_file_actions_destroy(&actions);
  printf("not mine: %d, %s\n", waitpid(getpid(), NULL, 0), strerror(errno));
}

int main(int count, char **all) {
  if (count > 1)
    return play(count, all);
  ten_at_once();
  words();
  redirected();
  piped();
  killed();
  failures();
  return 0;
}
