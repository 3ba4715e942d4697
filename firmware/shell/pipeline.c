/* Pipelines. An accelerator reads and writes files by itself, and gives its output to the next
   accelerator without a program in between. A pipe is between all other stages. */
#include "shell.h"
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a stage is while it runs. */
struct running {
  /* The first one. Behind the last one is one that is nothing. */
  struct running *all;
  const struct stage *stage;
  /* One of these. */
  command_function *command;
  struct activity activity;
  const char *program;
  char path[256];
  struct command what;
  pthread_t thread;
  bool has_thread;
  pid_t process;
  int status;
  /* Ends of pipes, and files, that are closed behind the stage; -1: the console. */
  int in, out;
};

struct run {
  const struct pipeline *pipeline;
  struct running stages[MOST_STAGES + 2];
  int count;
  struct stage copies;
  /* The file of input, and stages that are not needed: of `cat FILE | fft`, the accelerator reads
   * the file itself. */
  const char *in;
  int skips, out_flags;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int in_background, failed_in_background;
/* A pipeline in the background whose stages have not all begun. */
static bool begins;

/* Finds out what a stage is, and makes the activity of an accelerator. */
static int begin_stage(struct running *stage) {
  const char *name = stage->stage->words[0];
  stage->command = find_command(name);
  if (stage->command)
    return 0;
  if (!strchr(name, '/') && has_accelerator(name))
    return begin_activity(&stage->activity, stage->stage);
  stage->program = find_program(name, stage->path, sizeof stage->path);
  if (stage->program)
    return 0;
  complain("%s: no command, accelerator or program has this name (help lists commands)", name);
  return -1;
}

/* What is between two stages. */
static int join(struct running *from, struct running *to) {
  int ends[2];
  if (from->activity.activity && to->activity.activity)
    return chain(&from->activity, &to->activity);
  if (pipe(ends))
    return fails("a pipe");
  to->in = ends[0];
  from->out = ends[1];
  if (from->activity.activity)
    return set_output(&from->activity, from->out);
  return to->activity.activity ? set_input(&to->activity, to->in) : 0;
}

/* A program opens its files itself, so that it alone has their positions. What is wrong with them
 * is said here. */
static int open_file(const struct running *stage, int *number, const char *path, int flags) {
  *number = open(path, flags, 0666);
  if (*number < 0)
    return fails(path);
  if (!stage->program)
    return 0;
  close(*number);
  *number = -1;
  return 0;
}

static int begin_files(struct run *run) {
  const struct pipeline *pipeline = run->pipeline;
  struct running *first = &run->stages[0], *last = &run->stages[run->count - 1];
  run->out_flags = O_WRONLY | O_CREAT | (pipeline->appends ? O_APPEND : O_TRUNC);
  if (run->in) {
    if (open_file(first, &first->in, run->in, O_RDONLY))
      return -1;
    if (first->activity.activity && set_input(&first->activity, first->in))
      return -1;
  } else if (first->activity.activity) {
    complain("%s has no input: write < FILE, or a command and |", first->activity.name);
    return -1;
  }
  if (!pipeline->out)
    return 0;
  if (open_file(last, &last->out, pipeline->out, run->out_flags))
    return -1;
  return last->activity.activity ? set_output(&last->activity, last->out) : 0;
}

static void close_ends(struct running *stage) {
  if (stage->in >= 0)
    close(stage->in);
  if (stage->out >= 0 && close(stage->out))
    stage->status = 1;
  stage->in = stage->out = -1;
}

static struct running *add_stage(struct run *run, const struct stage *stage) {
  struct running *added = &run->stages[run->count++];
  added->all = run->stages;
  added->stage = stage;
  added->in = added->out = -1;
  return added;
}

/* Makes and connects all stages. The output of an accelerator that has no file goes to the console
 * by a command. */
static int begin(struct run *run) {
  const struct pipeline *pipeline = run->pipeline;
  static char cat[] = "cat";
  for (int n = run->skips; n < pipeline->count; n++)
    add_stage(run, &pipeline->stages[n]);
  for (int n = 0; n < run->count; n++) {
    if (begin_stage(&run->stages[n]))
      return -1;
  }
  if (run->stages[run->count - 1].activity.activity && !pipeline->out) {
    run->copies = (struct stage){{cat}, 1};
    if (begin_stage(add_stage(run, &run->copies)))
      return -1;
  }
  for (int n = 0; n + 1 < run->count; n++) {
    if (join(&run->stages[n], &run->stages[n + 1]))
      return -1;
  }
  return begin_files(run);
}

/* Accelerators that write into each other end together: one of them would wait for ever. */
static void cut(struct running *stage) {
  if (stage->activity.activity && !atomic_exchange(&stage->activity.is_cut, true))
    end_activity(&stage->activity);
}

/* The thread of a command or an accelerator. */
static void *execute(void *argument) {
  struct running *stage = argument;
  if (stage->command) {
    stage->status = stage->command(&stage->what);
  } else {
    stage->status = wait_for_activity(&stage->activity);
    if (stage->status) {
      cut(stage);
      if (stage > stage->all)
        cut(stage - 1);
      cut(stage + 1);
    }
  }
  close_ends(stage);
  return NULL;
}

/* The program has the ends of its pipes then, and the shell has them no more. */
static int start_stage_program(struct run *run, struct running *stage) {
  bool is_first = stage == run->stages, is_last = stage == &run->stages[run->count - 1];
  struct ends ends = {.in = stage->in,
                      .out = stage->out,
                      .in_path = is_first ? run->in : NULL,
                      .out_path = is_last ? run->pipeline->out : NULL,
                      .out_flags = run->out_flags & ~O_TRUNC};
  stage->process = start_program(stage->program, stage->stage->words, &ends);
  close_ends(stage);
  return stage->process < 0 ? -1 : 0;
}

static int start_stage(struct run *run, struct running *stage) {
  bool is_pushed = stage > run->stages && stage[-1].activity.activity;
  if (stage->program)
    return start_stage_program(run, stage);
  if (stage->activity.activity && start_activity(&stage->activity, is_pushed))
    return -1;
  stage->what = (struct command){.count = stage->stage->count,
                                 .words = (char **)stage->stage->words,
                                 .in = stage->in < 0 ? 0 : stage->in,
                                 .out = stage->out < 0 ? 1 : stage->out};
  errno = pthread_create(&stage->thread, NULL, execute, stage);
  if (errno)
    return fails(stage->stage->words[0]);
  stage->has_thread = true;
  return 0;
}

/* Starts all, from the last one on. The ends of one that does not start go, and others end by that.
 */
static int start(struct run *run) {
  int status = 0;
  for (int n = run->count - 1; n >= 0; n--) {
    struct running *stage = &run->stages[n];
    if (!status)
      status = start_stage(run, stage);
    if (!status)
      continue;
    stage->status = 1;
    close_ends(stage);
    end_activity(&stage->activity);
    stage->program = NULL;
  }
  return status;
}

/* Waits for a stage. */
static void finish(struct running *stage) {
  if (stage->has_thread) {
    pthread_join(stage->thread, NULL);
  } else if (stage->program && stage->process > 0) {
    stage->status = wait_for_program(stage->stage->words[0], stage->process);
  }
}

/* The shell reads the next line behind that: a program gets the shell's files when it begins, and
 * the terminal is one of them. */
static void has_begun(void) {
  pthread_mutex_lock(&lock);
  begins = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static int run_now(const struct pipeline *pipeline) {
  struct run *run = calloc(1, sizeof *run);
  if (!run) {
    has_begun();
    return -fails("memory");
  }
  run->pipeline = pipeline;
  run->in = pipeline->in;
  const struct stage *stage = &pipeline->stages[0];
  if (!run->in && pipeline->count > 1 && stage->count == 2 && !strcmp(stage->words[0], "cat")) {
    run->in = stage->words[1];
    run->skips = 1;
  }
  uint64_t began = flick_time();
  bool is_made = !begin(run), has_started = is_made && !start(run);
  if (pipeline->in_background)
    has_begun();
  for (int n = 0; is_made && n < run->count; n++)
    finish(&run->stages[n]);
  int status = has_started ? run->stages[run->count - 1].status : 1;
  if (pipeline->is_timed)
    printf("%.1f us\n", (double)(flick_time() - began) * 1e6 / (double)flick_program.frequency);
  for (int n = 0; n < run->count; n++) {
    close_ends(&run->stages[n]);
    cut(&run->stages[n]);
  }
  free(run);
  return status;
}

static void *run_later(void *argument) {
  struct pipeline *pipeline = argument;
  int status = run_now(pipeline);
  free(pipeline);
  pthread_mutex_lock(&lock);
  in_background--;
  if (status)
    failed_in_background = status;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* The same pipeline, whose words are its own. */
static struct pipeline *copy_of(const struct pipeline *pipeline) {
  struct pipeline *copy = malloc(sizeof *copy);
  if (!copy)
    return NULL;
  *copy = *pipeline;
  ptrdiff_t moved = copy->text - pipeline->text;
  for (int n = 0; n < copy->count; n++) {
    for (int word = 0; word < copy->stages[n].count; word++)
      copy->stages[n].words[word] += moved;
  }
  copy->in += copy->in ? moved : 0;
  copy->out += copy->out ? moved : 0;
  return copy;
}

int run_pipeline(const struct pipeline *pipeline) {
  if (!pipeline->in_background)
    return run_now(pipeline);
  struct pipeline *copy = copy_of(pipeline);
  pthread_t thread;
  if (!copy)
    return -fails("memory");
  pthread_mutex_lock(&lock);
  in_background++;
  begins = true;
  pthread_mutex_unlock(&lock);
  errno = pthread_create(&thread, NULL, run_later, copy);
  if (errno) {
    free(copy);
    pthread_mutex_lock(&lock);
    in_background--;
    pthread_mutex_unlock(&lock);
    fails("a thread");
    return 1;
  }
  pthread_detach(thread);
  pthread_mutex_lock(&lock);
  while (begins)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return 0;
}

int wait_for_background(void) {
  pthread_mutex_lock(&lock);
  while (in_background)
    pthread_cond_wait(&changed, &lock);
  int status = failed_in_background;
  failed_in_background = 0;
  pthread_mutex_unlock(&lock);
  return status;
}
