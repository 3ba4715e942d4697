/* Pipelines. An accelerator reads and writes files by itself, and gives its output to the next
   accelerator without a program in between. A pipe is between an accelerator and a command, and
   between two commands. */
#include "shell.h"
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long the shell waits for a server, in parts of a second. */
enum { SERVER_TIME = 1, PART = 4 << 10, ENDED = 3 };

/* What a stage is while it runs. */
struct running {
  const struct stage *stage;
  command_function *command;
  struct command what;
  /* 0: it is a command. Else the capability of its activity. */
  uint64_t activity;
  uint64_t tile;
  pthread_t thread;
  bool has_thread;
  int status;
  /* Ends of pipes, and files, that are closed behind the stage. */
  struct flick_file in, out;
  bool has_in, has_out;
};

struct run {
  const struct pipeline *pipeline;
  struct flick_files files, pipes;
  bool has_files, has_pipes;
  struct running stages[MOST_STAGES + 1];
  int count;
  struct stage copies;
  /* The file of input, and stages that are not needed: of `cat FILE | fft`, the accelerator reads
   * the file itself. */
  const char *in;
  int skips;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int in_background;

ssize_t stream_read(const struct stream *stream, void *buffer, size_t size) {
  return stream->file ? flick_file_read(stream->file, buffer, size) : read(0, buffer, size);
}

bool stream_write(const struct stream *stream, const void *data, size_t size) {
  const char *at = data;
  while (size) {
    ssize_t written = stream->file ? flick_file_write(stream->file, at, size) : write(1, at, size);
    if (written <= 0)
      return false;
    at += written;
    size -= (size_t)written;
  }
  return true;
}

static int fails(const char *what) {
  complain("%s: %s", what, strerror(errno));
  return -1;
}

/* The outcome of a kernel call. */
static int64_t made(int64_t outcome, const char *what) {
  if (outcome < 0) {
    errno = flick_errno(outcome);
    fails(what);
  }
  return outcome;
}

static int connect_to(struct flick_files *files, bool *has, const char *server) {
  uint64_t until = flick_time() + SERVER_TIME * flick_program.frequency;
  if (*has)
    return 0;
  if (flick_files_connect(files, server, until))
    return fails(server);
  *has = true;
  return 0;
}

static int open_file(struct run *run, struct flick_file *file, bool *has, const char *path,
                     int flags) {
  if (flick_file_open(&run->files, file, path, flags))
    return fails(path);
  *has = true;
  return 0;
}

/* Fills the local memory behind the blocks with a file. */
static int load(struct run *run, uint64_t memory, uint64_t tile, const char *path) {
  struct flick_file file;
  uint64_t at;
  if (made(flick_tile_block(tile, &at), "tile_block") < 0)
    return -1;
  if (flick_file_open(&run->files, &file, path, O_RDONLY))
    return fails(path);
  static _Thread_local uint64_t part[PART / 8];
  ssize_t size;
  int status = 0;
  while (!status && (size = flick_file_read(&file, part, PART)) > 0) {
    status = made(flick_tile_store(memory, at, (uintptr_t)part, (uint64_t)size), path) < 0 ? -1 : 0;
    at += (uint64_t)size;
  }
  if (size < 0)
    status = fails(path);
  flick_file_close(&file);
  return status;
}

/* Finds out what a stage is, and makes the activity of an accelerator. */
static int begin_stage(struct run *run, struct running *stage) {
  const char *name = stage->stage->words[0];
  uint64_t endpoints;
  stage->command = find_command(name);
  if (stage->command)
    return 0;
  int64_t tile = flick_tile_find((uintptr_t)name, strlen(name), 0, &endpoints);
  if (tile < 0) {
    complain("%s: no command and no accelerator has this name (help lists commands)", name);
    return -1;
  }
  stage->tile = (uint64_t)tile;
  int64_t activity = made(flick_activity_create(stage->tile), name);
  if (activity < 0)
    return -1;
  stage->activity = (uint64_t)activity;
  if (stage->stage->count > 2) {
    complain("%s takes one file", name);
    return -1;
  }
  if (stage->stage->count == 1)
    return 0;
  int64_t memory = made(flick_activity_memory(stage->activity), name);
  return memory < 0 ? -1 : load(run, (uint64_t)memory, stage->tile, stage->stage->words[1]);
}

static int set_up(struct running *stage, uint64_t endpoint, uint64_t by) {
  const char *name = stage->stage->words[0];
  return made(flick_activity_endpoint(stage->activity, endpoint, by), name) < 0 ? -1 : 0;
}

static int set_input(struct running *stage, const struct flick_file *file) {
  return set_up(stage, FLICK_INPUT_REQUESTS, file->requests) ||
                 set_up(stage, FLICK_INPUT_DATA, file->data)
             ? -1
             : 0;
}

static int set_output(struct running *stage, const struct flick_file *file) {
  return set_up(stage, FLICK_OUTPUT_REQUESTS, file->requests) ||
                 set_up(stage, FLICK_OUTPUT_DATA, file->data)
             ? -1
             : 0;
}

/* An accelerator writes into the local memory of the next one. */
static int chain(struct running *from, struct running *to) {
  uint64_t blocks;
  const char *name = to->stage->words[0];
  int64_t gate = made(flick_activity_gate(to->activity), name);
  int64_t memory = made(flick_activity_memory(to->activity), name);
  if (gate < 0 || memory < 0 || made(flick_tile_block(to->tile, &blocks), name) < 0)
    return -1;
  int64_t sender = made(flick_gate_sender((uint64_t)gate, 0, 1), name);
  int64_t part = made(flick_capability_narrow((uint64_t)memory, 0, blocks, FLICK_WRITE), name);
  if (sender < 0 || part < 0)
    return -1;
  return set_up(from, FLICK_OUTPUT_REQUESTS, (uint64_t)sender) ||
                 set_up(from, FLICK_OUTPUT_DATA, (uint64_t)part)
             ? -1
             : 0;
}

/* What is between two stages. */
static int join(struct run *run, struct running *from, struct running *to) {
  if (from->activity && to->activity)
    return chain(from, to);
  struct flick_file ends[2];
  if (connect_to(&run->pipes, &run->has_pipes, "pipes"))
    return -1;
  if (flick_files_pipe(&run->pipes, ends))
    return fails("a pipe");
  to->in = ends[0];
  from->out = ends[1];
  to->has_in = from->has_out = true;
  if (from->activity)
    return set_output(from, &from->out);
  return to->activity ? set_input(to, &to->in) : 0;
}

static int begin_files(struct run *run) {
  const struct pipeline *pipeline = run->pipeline;
  struct running *first = &run->stages[0], *last = &run->stages[run->count - 1];
  int flags = O_WRONLY | O_CREAT | (pipeline->appends ? O_APPEND : O_TRUNC);
  if (run->in) {
    if (open_file(run, &first->in, &first->has_in, run->in, O_RDONLY))
      return -1;
    if (first->activity && set_input(first, &first->in))
      return -1;
  } else if (first->activity) {
    complain("%s has no input: write < FILE, or a command and |", first->stage->words[0]);
    return -1;
  }
  if (!pipeline->out)
    return 0;
  if (open_file(run, &last->out, &last->has_out, pipeline->out, flags))
    return -1;
  return last->activity ? set_output(last, &last->out) : 0;
}

static void close_ends(struct running *stage) {
  if (stage->has_in)
    flick_file_close(&stage->in);
  if (stage->has_out && flick_file_close(&stage->out))
    stage->status = 1;
  stage->has_in = stage->has_out = false;
}

static void *execute(void *argument) {
  struct running *stage = argument;
  stage->status = stage->command(&stage->what);
  close_ends(stage);
  return NULL;
}

/* Makes and connects all stages. The output of an accelerator that has no file goes to the console
 * by a command. */
static int begin(struct run *run) {
  const struct pipeline *pipeline = run->pipeline;
  static char cat[] = "cat";
  if (connect_to(&run->files, &run->has_files, "files"))
    return -1;
  for (int n = run->skips; n < pipeline->count; n++)
    run->stages[run->count++].stage = &pipeline->stages[n];
  for (int n = 0; n < run->count; n++) {
    if (begin_stage(run, &run->stages[n]))
      return -1;
  }
  if (run->stages[run->count - 1].activity && !pipeline->out) {
    run->copies = (struct stage){{cat}, 1};
    run->stages[run->count].stage = &run->copies;
    if (begin_stage(run, &run->stages[run->count++]))
      return -1;
  }
  for (int n = 0; n + 1 < run->count; n++) {
    if (join(run, &run->stages[n], &run->stages[n + 1]))
      return -1;
  }
  return begin_files(run);
}

static int start(struct run *run) {
  for (int n = run->count - 1; n >= 0; n--) {
    struct running *stage = &run->stages[n];
    const char *name = stage->stage->words[0];
    if (stage->activity) {
      bool is_pushed = n > 0 && run->stages[n - 1].activity;
      uint64_t input = is_pushed ? FLICK_INPUT_PUSHED : FLICK_INPUT_ASKED;
      if (made(flick_activity_start(stage->activity, input), name) < 0)
        return -1;
      continue;
    }
    stage->what = (struct command){.count = stage->stage->count,
                                   .words = (char **)stage->stage->words,
                                   .in = {stage->has_in ? &stage->in : NULL},
                                   .out = {stage->has_out ? &stage->out : NULL},
                                   .files = &run->files};
    errno = pthread_create(&stage->thread, NULL, execute, stage);
    if (errno)
      return fails(name);
    stage->has_thread = true;
  }
  return 0;
}

/* Waits for a stage. */
static void finish(struct running *stage) {
  const char *name = stage->stage->words[0];
  uint64_t fault;
  if (stage->has_thread) {
    pthread_join(stage->thread, NULL);
  } else if (stage->activity) {
    int64_t status = flick_activity_wait(stage->activity, FLICK_FOR_EVER, &fault);
    stage->status = status != ENDED;
    if (status != ENDED)
      complain("%s has failed: %s", name, strerror((int)fault));
    close_ends(stage);
  }
}

static int run_now(const struct pipeline *pipeline) {
  struct run *run = calloc(1, sizeof *run);
  if (!run)
    return -fails("memory");
  run->pipeline = pipeline;
  run->in = pipeline->in;
  const struct stage *stage = &pipeline->stages[0];
  if (!run->in && pipeline->count > 1 && stage->count == 2 && !strcmp(stage->words[0], "cat")) {
    run->in = stage->words[1];
    run->skips = 1;
  }
  uint64_t began = flick_time();
  int status = 1;
  if (!begin(run) && !start(run)) {
    for (int n = 0; n < run->count; n++)
      finish(&run->stages[n]);
    status = run->stages[run->count - 1].status;
  }
  if (pipeline->is_timed)
    printf("%.1f us\n", (double)(flick_time() - began) * 1e6 / (double)flick_program.frequency);
  for (int n = 0; n < run->count; n++) {
    close_ends(&run->stages[n]);
    if (run->stages[n].activity)
      flick_capability_revoke(run->stages[n].activity);
  }
  if (run->has_pipes)
    flick_files_disconnect(&run->pipes);
  if (run->has_files)
    flick_files_disconnect(&run->files);
  free(run);
  return status;
}

static void *run_later(void *argument) {
  struct pipeline *pipeline = argument;
  run_now(pipeline);
  free(pipeline);
  pthread_mutex_lock(&lock);
  in_background--;
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
  return 0;
}

void wait_for_background(void) {
  pthread_mutex_lock(&lock);
  while (in_background)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}
