// Files in memory, shared by all programs: the library's own (file_table.c), with a table for each
// program.
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "console.h"
#include "servers.h"
#include "thread.h"

static struct file_pipe input = {.readers = 1, .writers = 1};
static struct file_description console = {
    .kind = FILE_OF_CONSOLE, .flags = O_RDWR, .users = 1, .pipe = &input};

// What the thread that reads the console has got. It reads once for each time that it is asked to.
static _Alignas(CARD_LINE) char input_bytes[4 * CARD_LINE];
static struct card_word reads_wanted;
static bool is_reading;

struct file_description *console_file(void) { return &console; }

static void want_input(void) {
  if (is_reading)
    return;
  is_reading = true;
  __atomic_fetch_add(&reads_wanted.word, 1, __ATOMIC_RELEASE);
  card_wake(&reads_wanted.word, 1);
}

// Somebody waits for input, so that there is room for it.
void take_input(int64_t size) {
  is_reading = false;
  if (size > 0) {
    card_acquired_bytes(input_bytes, size);
    __card_fill_pipe(&input, input_bytes, size);
  } else {
    input.writers = 0;
  }
  note_change();
}

void *read_console(void *unused) {
  (void)unused;
  for (uint32_t done = 0;; done++) {
    while (card_load(&reads_wanted.word) == done)
      card_wait(&reads_wanted.word, done, FLICK_FOR_EVER);
    ssize_t size = __card_console_read(input_bytes, sizeof input_bytes);
    struct card_request request = {.operation = CONSOLE_INPUT, .arguments = {size}};
    flick_mailbox_send(flick_program.tile, SERVER_PORT, (uintptr_t)&request, FLICK_FOR_EVER);
  }
}

static int64_t wait_for(struct program *program, const uint64_t *arguments) {
  uint64_t number = arguments[0];
  struct file_description *file = number < MOST_FILES ? program->files.open[number] : NULL;
  if (!file)
    return -EBADF;
  if (!__card_file_waits(file, arguments[1], arguments[2]))
    return 0;
  // Input that no program has asked for does not come.
  if (file->kind == FILE_OF_CONSOLE)
    want_input();
  return file->flags & O_NONBLOCK ? -EAGAIN : MUST_WAIT;
}

// A program that asks whether there is input has asked for it.
static void look_for_input(const struct program *program, uint64_t number) {
  const struct file_description *file = number < MOST_FILES ? program->files.open[number] : NULL;
  if (file && file->kind == FILE_OF_CONSOLE && __card_file_waits(file, false, 0))
    want_input();
}

// The paths of a request are copied, since the program can change its window meanwhile.
static const char *paths_of(const struct program *program, unsigned count) {
  static char paths[2 * PATH_SIZE];
  memcpy(paths, window_of(program, sizeof paths), sizeof paths);
  const char *at = paths;
  for (; count; count--) {
    const char *end = memchr(at, 0, PATH_SIZE);
    if (!end)
      return NULL;
    at = end + 1;
  }
  return paths;
}

// How many paths an operation has.
static unsigned path_count(unsigned operation) {
  switch (operation) {
  case FILE_OPEN:
  case FILE_ABOUT:
  case FILE_REMOVE:
  case FILE_REMOVE_DIRECTORY:
  case FILE_MAKE_DIRECTORY:
  case FILE_LIST:
    return 1;
  case FILE_RENAME:
    return 2;
  }
  return 0;
}

static bool needs_memory(unsigned operation) {
  switch (operation) {
  case FILE_OPEN:
  case FILE_MAKE_DIRECTORY:
  case FILE_RENAME:
  case FILE_PIPE:
    return true;
  }
  return false;
}

int64_t file_server(struct program *program, const struct card_request *request) {
  unsigned operation = request->operation, paths = path_count(operation);
  switch (operation) {
  case FILE_READ:
  case FILE_READ_AT:
  case FILE_WRITE:
  case FILE_WRITE_AT:
  case FILE_LIST:
    if (request->arguments[1] > WINDOW_SIZE)
      return -EINVAL;
    break;
  case FILE_WAIT:
    return wait_for(program, request->arguments);
  case FILE_READY:
    look_for_input(program, request->arguments[0]);
    break;
  }
  if (needs_memory(operation) && !memory_is_left(0))
    return -ENOMEM;
  bool writes = operation == FILE_WRITE || operation == FILE_WRITE_AT;
  const char *in =
      paths ? paths_of(program, paths) : window_of(program, writes ? request->arguments[1] : 0);
  if (!in)
    return -ENAMETOOLONG;
  note_change();
  return __card_file_execute(&program->files, operation, request->arguments, in, program->window);
}

void end_files(struct program *program) {
  for (unsigned number = 0; number < MOST_FILES; number++)
    __card_close_file(&program->files, number);
}
