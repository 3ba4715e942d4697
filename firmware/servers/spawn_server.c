// Programs: how they start others, wait for them and end them, and what follows an end. For the
// kernel, all are children of the servers.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "servers.h"
#include "thread.h"

#define MOST_ACTIONS 64
static struct program *all_programs;
// Programs of the command line that have not ended, and how the first of them has.
static unsigned given;
static uint64_t first_status;

struct program *programs(void) { return all_programs; }

struct program *program_of(uint64_t number) {
  struct program *program = all_programs;
  while (program && (program->is_over || program->number != number))
    program = program->next;
  return program;
}

static void forget(struct program *program) {
  struct program **at = &all_programs;
  while (*at != program)
    at = &(*at)->next;
  *at = program->next;
  free(program);
}

// How many have been made, for the thread that waits for their ends.
static struct card_word children;

void note_child(void) {
  __atomic_fetch_add(&children.word, 1, __ATOMIC_RELEASE);
  card_wake(&children.word, 1);
}

// Takes over the files, and closes them if it fails.
static int64_t start(struct program *parent, const struct order *order,
                     const struct file_table *files, struct program **started) {
  struct program *program = calloc(1, sizeof *program);
  if (!program)
    return -ENOMEM;
  program->files = *files;
  program->parent = parent;
  int64_t result = start_program(program, order);
  if (result < 0) {
    end_files(program);
    free(program);
    return result;
  }
  program->next = all_programs;
  all_programs = program;
  *started = program;
  return program->number;
}

int64_t start_given(char *const *arguments, unsigned count, bool is_first) {
  static struct file_description nothing = {.kind = FILE_OF_NOTHING, .flags = O_RDWR, .users = 1};
  struct file_table files = {0};
  for (int number = 0; number < 3; number++)
    files.open[number] = __card_share_file(number || is_first ? console_file() : &nothing);
  // The kernel has put them behind each other.
  const char *end = arguments[count - 1] + strlen(arguments[count - 1]) + 1;
  struct order order = {
      .path = arguments[0], .texts = arguments[0], .size = end - arguments[0], .arguments = count};
  if (order.size > WINDOW_SIZE)
    return -E2BIG;
  struct program *program;
  int64_t result = start(NULL, &order, &files, &program);
  if (result < 0)
    return result;
  program->is_given = true;
  program->is_first = is_first;
  given++;
  return 0;
}

static int64_t apply(struct file_table *files, const struct card_spawn_action *action,
                     const char *path) {
  uint64_t arguments[3] = {action->file};
  switch (action->kind) {
  case SPAWN_CLOSE:
    return __card_file_execute(files, FILE_CLOSE, arguments, NULL, NULL);
  case SPAWN_DUPLICATE:
    arguments[1] = action->value;
    if (action->value < 0)
      return -EBADF;
    // The same number stays open.
    files->close_on_exec &= ~(action->value < MOST_FILES ? 1ul << action->value : 0);
    return __card_file_execute(files, FILE_DUPLICATE, arguments, NULL, NULL);
  case SPAWN_OPEN: {
    if (action->file < 0 || action->file >= MOST_FILES || strlen(path) >= PATH_SIZE)
      return -EINVAL;
    __card_close_file(files, action->file);
    uint64_t flags[3] = {action->value};
    int64_t number = __card_file_execute(files, FILE_OPEN, flags, path, NULL);
    if (number < 0 || number == action->file)
      return number;
    uint64_t both[3] = {number, action->file};
    __card_file_execute(files, FILE_DUPLICATE, both, NULL, NULL);
    __card_close_file(files, number);
    return 0;
  }
  }
  return -EINVAL;
}

static void inherit(const struct program *parent, struct file_table *files) {
  files->close_on_exec = parent->files.close_on_exec;
  for (unsigned number = 0; number < MOST_FILES; number++)
    files->open[number] = __card_share_file(parent->files.open[number]);
}

static void close_all(struct file_table *files, uint64_t which) {
  for (unsigned number = 0; number < MOST_FILES; number++)
    if (which >> number & 1)
      __card_close_file(files, number);
}

// Goes over texts, of which each ends with a zero byte. NULL: there are not so many.
static const char *skip(const char *at, const char *end, unsigned count) {
  for (; at && count; count--) {
    at = memchr(at, 0, end - at);
    at = at ? at + 1 : NULL;
  }
  return at;
}

static int64_t spawn_copied(struct program *program, const char *bytes) {
  struct card_spawn spawn;
  memcpy(&spawn, bytes, sizeof spawn);
  const char *actions = bytes + sizeof spawn;
  const char *path = actions + (uint64_t)spawn.actions * sizeof(struct card_spawn_action);
  const char *limit = bytes + WINDOW_SIZE;
  if (spawn.actions > MOST_ACTIONS || spawn.size > limit - path || spawn.arguments > WINDOW_SIZE ||
      spawn.environment > WINDOW_SIZE)
    return -EINVAL;
  const char *end = path + spawn.size, *text = skip(path, end, 1);
  const char *texts = skip(text, end, spawn.actions);
  if (skip(texts, end, spawn.arguments + spawn.environment) != end)
    return -EINVAL;
  struct file_table files;
  inherit(program, &files);
  int64_t result = 0;
  for (unsigned n = 0; n < spawn.actions && result >= 0; n++) {
    struct card_spawn_action action;
    memcpy(&action, actions + n * sizeof action, sizeof action);
    result = apply(&files, &action, text);
    text += strlen(text) + 1;
  }
  close_all(&files, result < 0 ? UINT64_MAX : files.close_on_exec);
  if (result < 0)
    return result;
  files.close_on_exec = 0;
  struct order order = {.path = path,
                        .texts = texts,
                        .size = end - texts,
                        .arguments = spawn.arguments,
                        .environment = spawn.environment};
  struct program *started;
  return start(program, &order, &files, &started);
}

static int64_t spawn(struct program *program) {
  // The program can change its window meanwhile.
  static char bytes[WINDOW_SIZE];
  if (!memory_is_left(WINDOW_SIZE))
    return -ENOMEM;
  memcpy(bytes, window_of(program, sizeof bytes), sizeof bytes);
  note_change();
  return spawn_copied(program, bytes);
}

// The signal that Unix has for the end by an exception.
static int signal_of(unsigned cause) {
  switch (cause) {
  case 2:
    return SIGILL;
  case 3:
    return SIGTRAP;
  case 4:
  case 6:
    return SIGBUS;
  case FLICK_EOWNERDEAD:
    return SIGKILL;
  }
  return SIGSEGV;
}

// The kernel's status of a process as <sys/wait.h> has it.
static int wait_status(uint64_t status) {
  if (status & STATUS_EXCEPTION)
    return signal_of(status & 0xff);
  if (status & STATUS_KILLED)
    return status & 0x7f;
  return (status & 0xff) << 8;
}

static int64_t await(struct program *program, uint64_t number, uint64_t options,
                     struct card_reply *reply) {
  bool has_child = false;
  for (struct program *child = all_programs; child; child = child->next) {
    if (child->parent != program || (number && child->number != number))
      continue;
    has_child = true;
    if (!child->is_over)
      continue;
    int64_t ended = child->number;
    reply->values[0] = wait_status(child->status);
    forget(child);
    return ended;
  }
  if (!has_child)
    return -ECHILD;
  return options & WNOHANG ? 0 : MUST_WAIT;
}

static int64_t end(struct program *program, uint64_t number, uint64_t signal) {
  struct program *child = program_of(number);
  if (!child)
    return -ESRCH;
  if (child->parent != program)
    return -EPERM;
  if (signal > 0x7e)
    return -EINVAL;
  return signal ? reply_of(flick_process_end(number, STATUS_KILLED | signal)) : 0;
}

int64_t spawn_server(struct program *program, const struct card_request *request,
                     struct card_reply *reply) {
  const uint64_t *arguments = request->arguments;
  switch (request->operation) {
  case PROCESS_SPAWN:
    return spawn(program);
  case PROCESS_WAIT:
    return await(program, arguments[0], arguments[1], reply);
  }
  return end(program, arguments[0], arguments[1]);
}

// Children go on without their parent, and nobody waits for them.
static void leave_children(struct program *program) {
  struct program *next;
  for (struct program *child = all_programs; child; child = next) {
    next = child->next;
    if (child->parent != program)
      continue;
    child->parent = NULL;
    if (child->is_over)
      forget(child);
  }
}

static void given_ended(const struct program *program) {
  if (program->is_first)
    first_status = program->status;
  if (--given == 0)
    flick_process_end(0, first_status);
}

void child_ended(uint64_t number, uint64_t status) {
  struct program *program = program_of(number);
  if (!program)
    return;
  program->is_over = true;
  program->status = status;
  end_requests(program);
  end_files(program);
  end_names(program);
  end_regions(program);
  drop_window(program);
  leave_children(program);
  note_change();
  if (program->is_given)
    given_ended(program);
  if (!program->parent)
    forget(program);
}

void *await_children(void *unused) {
  (void)unused;
  for (;;) {
    uint32_t seen = card_load(&children.word);
    uint64_t status;
    int64_t number = flick_process_wait(0, FLICK_FOR_EVER, &status);
    if (number < 0) {
      card_wait(&children.word, seen, FLICK_FOR_EVER);
      continue;
    }
    struct card_request request = {.operation = CHILD_ENDED, .arguments = {number, status}};
    flick_mailbox_send(flick_program.tile, SERVER_PORT, (uintptr_t)&request, FLICK_FOR_EVER);
  }
}
