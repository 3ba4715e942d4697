/* The shell of the card (docs/shell.md): command lines, pipelines of commands and accelerators. */
#pragma once
#include <flick/files.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MOST_STAGES = 8, MOST_WORDS = 16, MOST_TEXT = 1024 };

/* A command or an accelerator, and its arguments. */
struct stage {
  char *words[MOST_WORDS + 1];
  int count;
};

/* Stages, each of which gives its output to the next one. */
struct pipeline {
  struct stage stages[MOST_STAGES];
  int count;
  /* Files, NULL: the console. */
  char *in, *out;
  bool appends, in_background, is_timed;
  /* The words. */
  char text[MOST_TEXT];
};

enum parsed { PARSED, NOTHING, WRONG };

/* Takes the next pipeline of a line, up to `;`, `&` or its end, and moves the line's start behind
 * it. */
enum parsed parse(const char **line, struct pipeline *pipeline);

/* Where a command reads or writes. */
struct stream {
  /* NULL: the console. */
  struct flick_file *file;
};

ssize_t stream_read(const struct stream *stream, void *buffer, size_t size);
/* False: the reader is gone. */
bool stream_write(const struct stream *stream, const void *data, size_t size);

/* What a command has. */
struct command {
  int count;
  char **words;
  struct stream in, out;
  /* The session with the server of files. */
  struct flick_files *files;
};

/* Returns the exit status. */
typedef int command_function(struct command *command);

/* NULL: there is no such command. */
command_function *find_command(const char *name);
void print_commands(void);

/* Runs a pipeline to its end, or begins one in the background. Returns the exit status of its last
 * stage. */
int run_pipeline(const struct pipeline *pipeline);
/* Waits for all pipelines in the background. */
void wait_for_background(void);

/* A message of the shell, behind its name. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
