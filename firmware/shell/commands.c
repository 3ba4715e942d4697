/* The commands of the shell itself. */
#include "shell.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART = 16 << 10 };

static int cannot(const struct command *command, const char *what) {
  complain("%s: %s: %s", command->words[0], what, strerror(errno));
  return 1;
}

/* False: the reader is gone, or there is no room. */
static bool put(int file, const void *data, size_t size) {
  const char *at = data;
  for (ssize_t written; size; at += written, size -= (size_t)written) {
    written = write(file, at, size);
    if (written <= 0)
      return false;
  }
  return true;
}

/* Writes all of the output, or says why not. A reader that is gone is no failure. */
static int write_out(const struct command *command, const void *data, size_t size) {
  return put(command->out, data, size) || errno == EPIPE ? 0 : cannot(command, "its output");
}

/* Copies all of a file. */
static int copy(const struct command *command, int from, int to) {
  char *part = malloc(PART);
  if (!part)
    return cannot(command, "memory");
  ssize_t size;
  int status = 0;
  while ((size = read(from, part, PART)) > 0) {
    if (put(to, part, (size_t)size))
      continue;
    status = errno == EPIPE ? 0 : cannot(command, "its output");
    break;
  }
  free(part);
  return size < 0 ? cannot(command, "its input") : status;
}

static int cat(const struct command *command) {
  if (command->count == 1)
    return copy(command, command->in, command->out);
  int status = 0;
  for (int n = 1; n < command->count; n++) {
    int file = open(command->words[n], O_RDONLY);
    if (file < 0) {
      status = cannot(command, command->words[n]);
      continue;
    }
    status |= copy(command, file, command->out);
    close(file);
  }
  return status;
}

static int echo(const struct command *command) {
  char text[MOST_TEXT + 1];
  size_t size = 0;
  for (int n = 1; n < command->count; n++)
    size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", n > 1 ? " " : "",
                             command->words[n]);
  text[size++] = '\n';
  return write_out(command, text, size);
}

static int list_entry(const struct command *command, const char *path, const char *name) {
  char full[1024], line[1200];
  struct stat about = {0};
  snprintf(full, sizeof full, "%s/%s", path, name);
  stat(full, &about);
  int length = snprintf(line, sizeof line, "%10ld  %s%s\n", (long)about.st_size, name,
                        S_ISDIR(about.st_mode) ? "/" : "");
  return write_out(command, line, (size_t)length);
}

static int list(const struct command *command, const char *path) {
  struct stat about;
  if (stat(path, &about))
    return cannot(command, path);
  if (!S_ISDIR(about.st_mode))
    return list_entry(command, ".", path);
  DIR *directory = opendir(path);
  if (!directory)
    return cannot(command, path);
  int status = 0;
  for (struct dirent *entry; !status && (entry = readdir(directory));)
    status = list_entry(command, path, entry->d_name);
  closedir(directory);
  return status;
}

static int ls(const struct command *command) {
  if (command->count == 1)
    return list(command, ".");
  int status = 0;
  for (int n = 1; n < command->count; n++)
    status |= list(command, command->words[n]);
  return status;
}

static int cp(const struct command *command) {
  if (command->count != 3) {
    complain("use cp FILE NEW");
    return 1;
  }
  int from = open(command->words[1], O_RDONLY);
  if (from < 0)
    return cannot(command, command->words[1]);
  int to = open(command->words[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
  int status = to < 0 ? cannot(command, command->words[2]) : copy(command, from, to);
  if (to >= 0 && close(to))
    status = cannot(command, command->words[2]);
  close(from);
  return status;
}

/* A command with one path or several. */
static int each(const struct command *command, int (*act)(const char *)) {
  int status = 0;
  for (int n = 1; n < command->count; n++) {
    if (act(command->words[n]))
      status = cannot(command, command->words[n]);
  }
  return status;
}

static int make(const char *path) { return mkdir(path, 0777); }
static int rm(const struct command *command) { return each(command, unlink); }
static int make_directory(const struct command *command) { return each(command, make); }
static int remove_directory(const struct command *command) { return each(command, rmdir); }

static int two(const struct command *command, int (*act)(const char *, const char *)) {
  if (command->count != 3) {
    complain("use %s FILE NEW", command->words[0]);
    return 1;
  }
  return act(command->words[1], command->words[2]) ? cannot(command, command->words[1]) : 0;
}

static int mv(const struct command *command) { return two(command, rename); }
static int ln(const struct command *command) { return two(command, link); }

static int pwd(const struct command *command) {
  char path[1026];
  if (!getcwd(path, sizeof path - 1))
    return cannot(command, "the directory");
  strcat(path, "\n");
  return write_out(command, path, strlen(path));
}

static int wc(const struct command *command) {
  unsigned long bytes = 0, lines = 0;
  char part[1024];
  ssize_t size;
  while ((size = read(command->in, part, sizeof part)) > 0) {
    bytes += (unsigned long)size;
    for (ssize_t n = 0; n < size; n++)
      lines += part[n] == '\n';
  }
  if (size < 0)
    return cannot(command, "its input");
  int length = snprintf(part, sizeof part, "%lu lines, %lu bytes\n", lines, bytes);
  return write_out(command, part, (size_t)length);
}

/* Bytes as numbers, 16 a line, as far as somebody wants to see them. */
static int hex(const struct command *command) {
  unsigned long most = command->count > 1 ? strtoul(command->words[1], 0, 0) : 256;
  unsigned char bytes[16];
  ssize_t size = 0;
  for (unsigned long at = 0; at < most; at += 16) {
    size_t wanted = most - at < 16 ? most - at : 16;
    size_t have = 0;
    while (have < wanted && (size = read(command->in, bytes + have, wanted - have)) > 0)
      have += (size_t)size;
    if (!have)
      break;
    char line[80];
    int length = snprintf(line, sizeof line, "%08lx ", at);
    for (size_t n = 0; n < have; n++)
      length += snprintf(line + length, sizeof line - (size_t)length, " %02x", bytes[n]);
    line[length++] = '\n';
    if (write_out(command, line, (size_t)length))
      return 1;
  }
  // Who writes into a pipe is not to see its end before its own.
  while (size > 0 && (size = read(command->in, bytes, sizeof bytes)) > 0)
    ;
  return size < 0 ? cannot(command, "its input") : 0;
}

static int cmp(const struct command *command) {
  if (command->count != 3) {
    complain("use cmp FILE FILE");
    return 2;
  }
  FILE *files[2] = {NULL};
  for (int n = 0; n < 2; n++) {
    files[n] = fopen(command->words[n + 1], "r");
    if (files[n])
      continue;
    cannot(command, command->words[n + 1]);
    if (n)
      fclose(files[0]);
    return 2;
  }
  int bytes[2];
  do {
    for (int n = 0; n < 2; n++)
      bytes[n] = getc(files[n]);
  } while (bytes[0] == bytes[1] && bytes[0] != EOF);
  for (int n = 0; n < 2; n++)
    fclose(files[n]);
  if (bytes[0] == bytes[1])
    return 0;
  complain("%s and %s differ", command->words[1], command->words[2]);
  return 1;
}

static int help(const struct command *command) {
  (void)command;
  print_commands();
  return 0;
}

static const struct {
  const char *name, *arguments, *text;
  command_function *function;
} ALL[] = {
    {"cat", "[FILE...]", "writes its input, or files", cat},
    {"cmp", "FILE FILE", "says whether files are the same", cmp},
    {"cp", "FILE NEW", "copies a file", cp},
    {"echo", "[WORD...]", "writes words", echo},
    {"hex", "[BYTES]", "writes its input in numbers, 256 bytes of it", hex},
    {"help", "", "writes this list", help},
    {"ln", "FILE NEW", "gives a file another name", ln},
    {"ls", "[DIRECTORY...]", "lists files, with their sizes", ls},
    {"mkdir", "DIRECTORY...", "makes directories", make_directory},
    {"mv", "FILE NEW", "gives a file a new name", mv},
    {"pwd", "", "writes the directory", pwd},
    {"rm", "FILE...", "removes files", rm},
    {"rmdir", "DIRECTORY...", "removes directories", remove_directory},
    {"wc", "", "counts lines and bytes of its input", wc},
};

command_function *find_command(const char *name) {
  for (size_t n = 0; n < sizeof ALL / sizeof *ALL; n++) {
    if (!strcmp(ALL[n].name, name))
      return ALL[n].function;
  }
  return NULL;
}

void print_commands(void) {
  for (size_t n = 0; n < sizeof ALL / sizeof *ALL; n++)
    printf("%-6s %-15s %s\n", ALL[n].name, ALL[n].arguments, ALL[n].text);
  printf("%-22s %s\n", "cd [DIRECTORY]", "changes the directory; without one, to /srv/files");
  printf("%-22s %s\n", "wait", "waits for pipelines in the background");
  printf("%-22s %s\n", "time PIPELINE", "says how long it takes");
  printf("%-22s %s\n", "exit [STATUS]", "ends the shell");
  printf("%-22s %s\n", "ACCELERATOR [FILE]", "an accelerator, and a file behind its block");
  printf("%-22s %s\n", "PROGRAM [WORD...]", "a program, by a path or the name of one of --program");
}
