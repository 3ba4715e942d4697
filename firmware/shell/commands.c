/* The commands of the shell itself. */
#include "shell.h"
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART = 16 << 10 };

static int fails(const struct command *command, const char *what) {
  complain("%s: %s: %s", command->words[0], what, strerror(errno));
  return 1;
}

/* Copies all of a stream. */
static int copy(struct command *command, const struct stream *from, const struct stream *to) {
  char *part = malloc(PART);
  if (!part)
    return fails(command, "memory");
  ssize_t size;
  while ((size = stream_read(from, part, PART)) > 0 && stream_write(to, part, (size_t)size))
    ;
  free(part);
  return size < 0 ? fails(command, "its input") : 0;
}

static int cat(struct command *command) {
  if (command->count == 1)
    return copy(command, &command->in, &command->out);
  int status = 0;
  for (int n = 1; n < command->count; n++) {
    struct flick_file file;
    if (flick_file_open(command->files, &file, command->words[n], O_RDONLY)) {
      status = fails(command, command->words[n]);
      continue;
    }
    status |= copy(command, &(struct stream){&file}, &command->out);
    flick_file_close(&file);
  }
  return status;
}

static int echo(struct command *command) {
  for (int n = 1; n < command->count; n++) {
    stream_write(&command->out, command->words[n], strlen(command->words[n]));
    stream_write(&command->out, n + 1 < command->count ? " " : "", n + 1 < command->count);
  }
  return !stream_write(&command->out, "\n", 1);
}

static int list_directory(struct command *command, const char *path) {
  char *list = malloc(FLICK_FILES_PAGE);
  if (!list)
    return fails(command, "memory");
  ssize_t size;
  for (uint64_t first = 0; (size = flick_files_list(command->files, path, first, list)) > 0;) {
    for (char *at = list; at < list + size; at += strlen(at) + 1, first++) {
      bool is_directory = *at++ == 1;
      char full[512], line[600];
      struct flick_file_about about = {0};
      snprintf(full, sizeof full, "%s/%s", path, at);
      flick_files_about(command->files, full, &about);
      int length = snprintf(line, sizeof line, "%10lu  %s%s\n", (unsigned long)about.size, at,
                            is_directory ? "/" : "");
      stream_write(&command->out, line, (size_t)length);
    }
  }
  free(list);
  return size < 0 ? fails(command, path) : 0;
}

static int ls(struct command *command) {
  if (command->count == 1)
    return list_directory(command, "/");
  int status = 0;
  for (int n = 1; n < command->count; n++)
    status |= list_directory(command, command->words[n]);
  return status;
}

static int cp(struct command *command) {
  struct flick_file from, to;
  if (command->count != 3) {
    complain("use cp FILE NEW");
    return 1;
  }
  if (flick_file_open(command->files, &from, command->words[1], O_RDONLY))
    return fails(command, command->words[1]);
  int status;
  if (flick_file_open(command->files, &to, command->words[2], O_WRONLY | O_CREAT | O_TRUNC)) {
    status = fails(command, command->words[2]);
  } else {
    status = copy(command, &(struct stream){&from}, &(struct stream){&to});
    if (flick_file_close(&to))
      status = fails(command, command->words[2]);
  }
  flick_file_close(&from);
  return status;
}

/* A command with one path or several. */
static int each(struct command *command, int (*act)(struct flick_files *, const char *)) {
  int status = 0;
  for (int n = 1; n < command->count; n++) {
    if (act(command->files, command->words[n]))
      status = fails(command, command->words[n]);
  }
  return status;
}

static int rm(struct command *command) { return each(command, flick_files_unlink); }
static int make_directory(struct command *command) {
  return each(command, flick_files_make_directory);
}
static int remove_directory(struct command *command) {
  return each(command, flick_files_remove_directory);
}

static int two(struct command *command,
               int (*act)(struct flick_files *, const char *, const char *)) {
  if (command->count != 3) {
    complain("use %s FILE NEW", command->words[0]);
    return 1;
  }
  return act(command->files, command->words[1], command->words[2])
             ? fails(command, command->words[1])
             : 0;
}

static int mv(struct command *command) { return two(command, flick_files_rename); }
static int ln(struct command *command) { return two(command, flick_files_link); }

static int wc(struct command *command) {
  unsigned long bytes = 0, lines = 0;
  char part[1024];
  ssize_t size;
  while ((size = stream_read(&command->in, part, sizeof part)) > 0) {
    bytes += (unsigned long)size;
    for (ssize_t n = 0; n < size; n++)
      lines += part[n] == '\n';
  }
  if (size < 0)
    return fails(command, "its input");
  int length = snprintf(part, sizeof part, "%lu lines, %lu bytes\n", lines, bytes);
  return !stream_write(&command->out, part, (size_t)length);
}

/* Bytes as numbers, 16 a line, as far as somebody wants to see them. */
static int hex(struct command *command) {
  unsigned long most = command->count > 1 ? strtoul(command->words[1], 0, 0) : 256;
  unsigned char bytes[16];
  ssize_t size = 0;
  for (unsigned long at = 0; at < most; at += 16) {
    size_t wanted = most - at < 16 ? most - at : 16;
    size_t have = 0;
    while (have < wanted && (size = stream_read(&command->in, bytes + have, wanted - have)) > 0)
      have += (size_t)size;
    if (!have)
      break;
    char line[80];
    int length = snprintf(line, sizeof line, "%08lx ", at);
    for (size_t n = 0; n < have; n++)
      length += snprintf(line + length, sizeof line - (size_t)length, " %02x", bytes[n]);
    line[length++] = '\n';
    if (!stream_write(&command->out, line, (size_t)length))
      return 0;
  }
  // Who writes into a pipe is not to see its end before its own.
  while (size > 0 && (size = stream_read(&command->in, bytes, sizeof bytes)) > 0)
    ;
  return size < 0 ? fails(command, "its input") : 0;
}

static int cmp(struct command *command) {
  if (command->count != 3) {
    complain("use cmp FILE FILE");
    return 2;
  }
  struct flick_file files[2];
  for (int n = 0; n < 2; n++) {
    if (flick_file_open(command->files, &files[n], command->words[n + 1], O_RDONLY)) {
      fails(command, command->words[n + 1]);
      if (n)
        flick_file_close(&files[0]);
      return 2;
    }
  }
  int differ = flick_file_size(&files[0]) != flick_file_size(&files[1]);
  char parts[2][512];
  ssize_t sizes[2];
  do {
    for (int n = 0; n < 2; n++)
      sizes[n] = flick_file_read(&files[n], parts[n], sizeof parts[n]);
    differ |=
        sizes[0] != sizes[1] || (sizes[0] > 0 && memcmp(parts[0], parts[1], (size_t)sizes[0]));
  } while (!differ && sizes[0] > 0);
  for (int n = 0; n < 2; n++)
    flick_file_close(&files[n]);
  if (differ)
    complain("%s and %s differ", command->words[1], command->words[2]);
  return differ;
}

static int help(struct command *command) {
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
  printf("%-22s %s\n", "wait", "waits for pipelines in the background");
  printf("%-22s %s\n", "time PIPELINE", "says how long it takes");
  printf("%-22s %s\n", "exit [STATUS]", "ends the shell");
  printf("%-22s %s\n", "ACCELERATOR [FILE]", "an accelerator, and a file behind its block");
}
