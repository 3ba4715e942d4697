/* The shell of the card (docs/shell.md): command lines, pipelines of commands, programs and
   accelerators. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOST_STAGES = 8, MOST_WORDS = 32, MOST_TEXT = 1024 };

/* A command, a program or an accelerator, and its arguments. */
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
 * it. `$?` is the status. */
enum parsed parse(const char **line, struct pipeline *pipeline, int status);

/* What a command has: words, and open files. */
struct command {
  int count;
  char **words;
  int in, out;
};

/* Returns the exit status. */
typedef int command_function(const struct command *command);

/* NULL: there is no such command. */
command_function *find_command(const char *name);
void print_commands(void);

/* Runs a pipeline to its end, or begins one in the background. Returns the exit status of its last
 * stage. */
int run_pipeline(const struct pipeline *pipeline);
/* Waits for all pipelines in the background. Returns the status of one of them that has failed. */
int wait_for_background(void);

/* What an accelerator does for a pipeline. */
struct activity {
  /* Of a message. */
  const char *name;
  /* Capabilities; 0: there is none. */
  uint64_t activity, tile;
  /* The shell has ended it. */
  atomic_bool is_cut;
};

/* No tile has this name. */
bool has_accelerator(const char *name);
/* Each of these returns -1 and says why if it fails. */
int begin_activity(struct activity *activity, const struct stage *stage);
int set_input(const struct activity *activity, int number);
int set_output(const struct activity *activity, int number);
/* It writes into the local memory of the other one. */
int chain(const struct activity *from, const struct activity *to);
int start_activity(const struct activity *activity, bool is_pushed);
/* Returns its exit status. */
int wait_for_activity(const struct activity *activity);
void end_activity(const struct activity *activity);

/* What a program reads and writes: open files, -1: what the shell has; or paths, NULL: none. */
struct ends {
  int in, out;
  const char *in_path, *out_path;
  int out_flags;
};

/* The file of a program. NULL: there is none. */
const char *find_program(const char *name, char *path, size_t size);
/* Starts a program. -1: it fails, and why is said. */
pid_t start_program(const char *path, char *const *words, const struct ends *ends);
/* Returns its exit status. */
int wait_for_program(const char *name, pid_t program);

/* Writes all files below a directory to the console, each part behind the mark. -1: it fails. */
int save_files(const char *mark, const char *directory);

/* A message of the shell, behind its name. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says what errno is. Returns -1. */
int fails(const char *what);
