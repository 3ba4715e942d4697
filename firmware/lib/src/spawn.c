// Programs that a program starts: posix_spawn and kin, by the servers.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "server_call.h"
#include "spawn.h"
#include "thread.h"

// Nothing that attributes say exists here, so that there are none to keep.
struct __posix_spawnattr {
  short flags;
};

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
  char *copy = strdup(path);
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

// Files of servers, and the directory, are in the environment.
static bool put_gifts(struct writer *writer, const struct card_gifts *gifts, uint32_t *count) {
  char directory[PATH_SIZE];
  bool has_directory = getcwd(directory, sizeof directory) && directory[1];
  if (!gifts->count && !has_directory)
    return true;
  size_t room = writer->end - writer->at, size = 0;
  size += snprintf(writer->at, room, SPAWNED_FILES "%s%s", has_directory ? directory : "",
                   has_directory ? "\n" : "");
  for (uint32_t n = 0; n < gifts->count && size < room; n++) {
    const struct card_gift *gift = &gifts->all[n];
    size += snprintf(writer->at + size, room - size, "%lx %lx %lx %s\n", (long)gift->low,
                     (long)gift->number, (long)gift->key, gift->server->name);
  }
  ++*count;
  return size < room && place(writer, size + 1);
}

// What a program is started with.
struct start {
  const char *path;
  const struct __posix_spawn_file_actions *actions;
  bool is_done[MOST_ACTIONS];
  char *const *arguments, *const *environment;
  struct card_gifts gifts;
};

static bool write_spawn(const struct start *start) {
  struct writer writer = {__card_window, __card_window + WINDOW_SIZE};
  struct card_spawn spawn = {0};
  struct card_spawn *at = place(&writer, sizeof spawn);
  uint32_t count = start->actions ? start->actions->count : 0;
  for (uint32_t n = 0; n < count; n++) {
    if (start->is_done[n])
      continue;
    *(struct card_spawn_action *)place(&writer, sizeof(struct card_spawn_action)) =
        start->actions->all[n].action;
    spawn.actions++;
  }
  const char *texts = writer.at;
  bool fits = put_text(&writer, start->path);
  for (uint32_t n = 0; n < count; n++) {
    char full[PATH_SIZE];
    if (start->is_done[n])
      continue;
    size_t size;
    const char *path = __card_full_path(start->actions->all[n].path, full, &size);
    fits = fits && path && put_text(&writer, path);
  }
  fits = fits && put_texts(&writer, start->arguments, &spawn.arguments) &&
         put_texts(&writer, start->environment, &spawn.environment) &&
         put_gifts(&writer, &start->gifts, &spawn.environment);
  spawn.size = writer.at - texts;
  *at = spawn;
  return fits;
}

static int64_t ask_for(const struct start *start) {
  struct card_request request = {.operation = PROCESS_SPAWN};
  struct card_reply reply;
  card_lock(&__card_window_lock.word);
  int64_t result = write_spawn(start) ? __card_server_call(&request, &reply) : -E2BIG;
  card_unlock(&__card_window_lock.word);
  return result;
}

// Copies a file. Returns 0 or an error.
static int copy_file(const char *from, const char *to) {
  int in = open(from, O_RDONLY), out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL, 0);
  char *part = malloc(WINDOW_SIZE);
  ssize_t size = out < 0 || !part ? -1 : 0;
  while (size >= 0 && (size = read(in, part, WINDOW_SIZE)) > 0)
    if (write(out, part, size) != size)
      size = -1;
  int error = size < 0 ? errno : 0;
  free(part);
  if (in >= 0)
    close(in);
  if (out >= 0)
    close(out);
  return error;
}

// The tile's servers load programs of their own files. One of another server is one of these for
// the moment.
static int64_t start_copy(struct start *start) {
  static uint32_t count;
  char copy[64];
  uint64_t parent;
  snprintf(copy, sizeof copy, "/.program-%lx-%x", (long)flick_process_self(&parent),
           (unsigned)__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
  int64_t result = -copy_file(start->path, copy);
  start->path = copy;
  if (!result)
    result = ask_for(start);
  unlink(copy);
  return result;
}

static int spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                 char *const argv[], char *const envp[]) {
  if (!card_has_servers())
    return ENOSYS;
  struct start start = {
      .path = path, .actions = actions ? *actions : NULL, .arguments = argv, .environment = envp};
  int error = __card_give_files(&start.gifts, start.actions, start.is_done);
  if (error)
    return error;
  int64_t result = __card_is_server_path(path) ? start_copy(&start) : ask_for(&start);
  if (result < 0) {
    __card_take_back(&start.gifts);
    return -result;
  }
  __card_keep_gifts(&start.gifts, result);
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

// All programs without a path are in the root.
int posix_spawnp(pid_t *restrict process, const char *restrict name,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const argv[],
                 char *const envp[]) {
  if (strchr(name, '/'))
    return posix_spawn(process, name, actions, attributes, argv, envp);
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
  if (ended)
    __card_end_gifts(ended);
  if (ended && status)
    *status = reply.values[0];
  return ended;
}

pid_t wait(int *status) { return waitpid(-1, status, 0); }
