// Programs that a program starts: posix_spawn and kin, by the servers.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "files.h"
#include "server_call.h"
#include "thread.h"

struct __posix_spawn_file_actions {
  uint32_t count, room;
  struct {
    struct card_spawn_action action;
    char *path;
  } all[];
};

// Nothing that attributes say exists here, so that there are none to keep.
struct __posix_spawnattr {
  short flags;
};

#define MOST_ACTIONS 64

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions) {
  posix_spawn_file_actions_t made = calloc(1, sizeof *made + MOST_ACTIONS * sizeof made->all[0]);
  *actions = made;
  return made ? 0 : ENOMEM;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions) {
  for (uint32_t n = 0; n < (*actions)->count; n++)
    free((*actions)->all[n].path);
  free(*actions);
  return 0;
}

static int add(posix_spawn_file_actions_t actions, uint32_t kind, int file, int value,
               const char *path) {
  if (file < 0)
    return EBADF;
  if (actions->count == MOST_ACTIONS)
    return ENOMEM;
  char full[PATH_SIZE];
  size_t size;
  char *copy = (path = __card_full_path(path, full, &size)) ? strdup(path) : NULL;
  if (!copy)
    return ENOMEM;
  actions->all[actions->count].path = copy;
  actions->all[actions->count++].action =
      (struct card_spawn_action){.kind = kind, .file = file, .value = value};
  return 0;
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict actions, int file,
                                     const char *restrict path, int flags, mode_t mode) {
  (void)mode;
  return add(*actions, SPAWN_OPEN, file, flags, path);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int file, int same) {
  return add(*actions, SPAWN_DUPLICATE, file, same, "");
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *actions, int file) {
  return add(*actions, SPAWN_CLOSE, file, 0, "");
}

int posix_spawnattr_init(posix_spawnattr_t *attributes) {
  *attributes = calloc(1, sizeof **attributes);
  return *attributes ? 0 : ENOMEM;
}

int posix_spawnattr_destroy(posix_spawnattr_t *attributes) {
  free(*attributes);
  return 0;
}

int posix_spawnattr_getflags(const posix_spawnattr_t *restrict attributes, short *restrict flags) {
  *flags = (*attributes)->flags;
  return 0;
}

// There are no groups of processes, no signals and no schedulers to choose.
int posix_spawnattr_setflags(posix_spawnattr_t *attributes, short flags) {
  (void)attributes;
  return flags ? ENOTSUP : 0;
}

// What is written to the window.
struct writer {
  char *at, *end;
};

static void *place(struct writer *writer, size_t size) {
  if (size > (size_t)(writer->end - writer->at))
    return NULL;
  void *at = writer->at;
  writer->at += size;
  return at;
}

static bool put_text(struct writer *writer, const char *text) {
  size_t size = strlen(text) + 1;
  char *at = place(writer, size);
  return at && memcpy(at, text, size);
}

static bool put_texts(struct writer *writer, char *const *texts, uint32_t *count) {
  for (; texts && texts[*count]; ++*count)
    if (!put_text(writer, texts[*count]))
      return false;
  return true;
}

#pragma weak __card_server_path

// Files of servers are the child's to open: a number, flags and a path of each are in its
// environment.
static const char *path_of_server(const struct card_spawn_action *action, const char *path,
                                  int *flags) {
  *flags = action->value;
  if (action->kind == SPAWN_OPEN)
    return __card_is_server_path(path) ? path : NULL;
  if (action->kind != SPAWN_DUPLICATE || !__card_server_path)
    return NULL;
  return __card_server_path(action->file, flags);
}

static bool put_server_files(struct writer *writer, posix_spawn_file_actions_t actions,
                             uint32_t *count) {
  char *begin = writer->at;
  bool has_some = false, fits = true;
  for (uint32_t n = 0; actions && n < actions->count && fits; n++) {
    int flags;
    const struct card_spawn_action *action = &actions->all[n].action;
    const char *path = path_of_server(action, actions->all[n].path, &flags);
    if (!path)
      continue;
    int number = action->kind == SPAWN_OPEN ? action->file : action->value;
    size_t room = writer->end - writer->at;
    int size = snprintf(writer->at, room, "%s%d %d %s\n", has_some ? "" : SPAWNED_FILES "=", number,
                        flags, path);
    fits = (size_t)size < room;
    writer->at += fits ? size : 0;
    has_some = true;
  }
  // A zero behind them.
  writer->at += has_some && fits;
  *count += has_some;
  return fits && (!has_some || begin < writer->at);
}

static bool write_spawn(const char *path, posix_spawn_file_actions_t actions, char *const argv[],
                        char *const envp[]) {
  struct writer writer = {__card_window, __card_window + WINDOW_SIZE};
  struct card_spawn spawn = {0};
  struct card_spawn *at = place(&writer, sizeof spawn);
  int flags;
  for (uint32_t n = 0; actions && n < actions->count; n++) {
    if (path_of_server(&actions->all[n].action, actions->all[n].path, &flags))
      continue;
    *(struct card_spawn_action *)place(&writer, sizeof(struct card_spawn_action)) =
        actions->all[n].action;
    spawn.actions++;
  }
  const char *texts = writer.at;
  bool fits = put_text(&writer, path);
  for (uint32_t n = 0; actions && n < actions->count; n++)
    if (!path_of_server(&actions->all[n].action, actions->all[n].path, &flags))
      fits = fits && put_text(&writer, actions->all[n].path);
  fits = fits && put_texts(&writer, argv, &spawn.arguments) &&
         put_texts(&writer, envp, &spawn.environment) &&
         put_server_files(&writer, actions, &spawn.environment);
  spawn.size = writer.at - texts;
  *at = spawn;
  return fits;
}

static int spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                 char *const argv[], char *const envp[]) {
  if (!card_has_servers())
    return ENOSYS;
  struct card_request request = {.operation = PROCESS_SPAWN};
  struct card_reply reply;
  card_lock(&__card_window_lock.word);
  int64_t result = write_spawn(path, actions ? *actions : NULL, argv, envp)
                       ? __card_server_call(&request, &reply)
                       : -E2BIG;
  card_unlock(&__card_window_lock.word);
  if (result < 0)
    return -result;
  if (process)
    *process = result;
  return 0;
}

int posix_spawn(pid_t *restrict process, const char *restrict path,
                const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *restrict attributes, char *const argv[],
                char *const envp[]) {
  (void)attributes;
  char full[PATH_SIZE];
  size_t size;
  path = __card_full_path(path, full, &size);
  return path ? spawn(process, path, actions, argv, envp) : ENAMETOOLONG;
}

// All programs are in one folder.
int posix_spawnp(pid_t *restrict process, const char *restrict name,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const argv[],
                 char *const envp[]) {
  (void)attributes;
  return spawn(process, name, actions, argv, envp);
}

pid_t waitpid(pid_t process, int *status, int options) {
  uint64_t wanted = process == -1 ? 0 : (uint32_t)process;
  struct card_request request = {.operation = PROCESS_WAIT, .arguments = {wanted, options}};
  struct card_reply reply;
  int64_t ended = __card_server_call(&request, &reply);
  if (ended < 0) {
    errno = -ended;
    return -1;
  }
  if (ended && status)
    *status = reply.values[0];
  return ended;
}

pid_t wait(int *status) { return waitpid(-1, status, 0); }
