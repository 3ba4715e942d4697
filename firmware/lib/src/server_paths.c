// POSIX's files under /srv: those of servers on the root's tile (docs/files.md). Their numbers are
// behind those of other files.
#include <errno.h>
#include <fcntl.h>
#include <flick/files.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_table.h"
#include "files.h"
#include "server_call.h"
#include "thread.h"

#define MOST_SERVERS 4
#define MOST_NUMBERS 32
#define MOST_NAME 32

struct server {
  char name[MOST_NAME + 1];
  struct flick_files files;
  // Its files that are open, and calls by it. A server that is gone stays until there are none.
  unsigned users;
  bool is_used, is_gone;
};

// Who opens and closes holds `lock`; who uses a session's page holds `pages`.
static struct {
  struct card_word lock, pages;
  _Alignas(CARD_LINE) struct server all[MOST_SERVERS];
} servers;

static struct number {
  struct card_word lock;
  _Alignas(CARD_LINE) bool is_used;
  // Opened to be named and synced alone: the server knows nothing of it.
  bool is_directory;
  int flags;
  // Low numbers that are the same, and its own.
  unsigned users;
  char *path;
  struct server *server;
  struct flick_file file;
} numbers[MOST_NUMBERS];

// Of low numbers of `__card_server_numbers`: the place of their file.
static uint8_t places[MOST_FILES];

// Numbers are touched when there have been files: each page takes memory then.
static bool has_numbers;

static int64_t result_of(int64_t result) { return result < 0 ? -errno : result; }

static void release(struct server *server) {
  card_lock(&servers.lock.word);
  if (--server->users == 0 && server->is_gone)
    server->is_used = false;
  card_unlock(&servers.lock.word);
}

static struct server *find(const char *name, size_t size) {
  struct server *free = NULL;
  for (struct server *server = servers.all; server < servers.all + MOST_SERVERS; server++) {
    if (!server->is_used)
      free = server;
    else if (!server->is_gone && !strncmp(server->name, name, size) && !server->name[size])
      return server;
  }
  if (!free) {
    errno = EMFILE;
    return NULL;
  }
  *free = (struct server){0};
  memcpy(free->name, name, size);
  // Programs and servers start at the same time.
  if (flick_files_connect(&free->files, free->name, flick_time() + flick_program.frequency))
    return NULL;
  free->is_used = true;
  return free;
}

// The server of a path, and the path there.
static struct server *server_of(const char **path) {
  const char *name = *path + strlen(SERVER_FILES), *end = name + strcspn(name, "/");
  if (end == name || end - name > MOST_NAME) {
    errno = ENOENT;
    return NULL;
  }
  *path = *end ? end : "/";
  card_lock(&servers.lock.word);
  struct server *server = find(name, end - name);
  if (server)
    server->users++;
  card_unlock(&servers.lock.word);
  return server;
}

static void describe(struct card_file_about *about, const struct flick_file_about *from) {
  const uint32_t modes[] = {S_IFREG | 0644, S_IFDIR | 0755, S_IFIFO | 0644};
  uint32_t mode = from->kind <= FLICK_FILES_KIND_PIPE ? modes[from->kind] : 0;
  *about = (struct card_file_about){
      .mode = mode, .links = from->links, .size = from->size, .number = from->number};
}

static int64_t open_number(struct server *server, const char *path, const char *full, int flags) {
  card_lock(&servers.lock.word);
  has_numbers = true;
  struct number *number = numbers;
  while (number < numbers + MOST_NUMBERS && number->is_used)
    number++;
  bool is_free = number < numbers + MOST_NUMBERS;
  if (is_free)
    number->is_used = true;
  card_unlock(&servers.lock.word);
  if (!is_free)
    return -EMFILE;
  number->is_directory = false;
  if (flick_file_open(&server->files, &number->file, path, flags)) {
    number->is_directory = errno == EISDIR && !(flags & (O_ACCMODE | O_CREAT | O_TRUNC));
    if (!number->is_directory) {
      number->is_used = false;
      return -errno;
    }
  }
  number->flags = flags;
  number->users = 1;
  number->path = strdup(full);
  number->server = server;
  card_lock(&servers.lock.word);
  server->users++;
  card_unlock(&servers.lock.word);
  return MOST_FILES + (number - numbers);
}

static int64_t list(struct flick_files *files, const char *path, const uint64_t *arguments,
                    struct file_bytes bytes) {
  char page[FLICK_FILES_PAGE];
  ssize_t size = flick_files_list(files, path, arguments[0], page);
  if (size < 0)
    return -errno;
  // Entries that there is room for.
  size_t kept = 0;
  while (kept < (size_t)size) {
    size_t next = kept + 2 + strlen(page + kept + 1);
    if (next > arguments[1])
      break;
    kept = next;
  }
  memcpy(bytes.out, page, kept);
  return kept;
}

// The second path of two, which has to be of the same server.
static const char *second_path(const struct server *server, const char *path) {
  path += strlen(path) + 1;
  size_t size = strlen(server->name), prefix = strlen(SERVER_FILES);
  if (!__card_is_server_path(path) || strncmp(path + prefix, server->name, size) ||
      path[prefix + size] != '/')
    return NULL;
  return path + prefix + size;
}

static int64_t execute_path(struct server *server, uint32_t operation, const char *path,
                            const uint64_t *arguments, struct file_bytes bytes) {
  struct flick_files *files = &server->files;
  struct flick_file_about about;
  const char *second;
  switch (operation) {
  case FILE_OPEN:
    return open_number(server, path, bytes.in, arguments[0]);
  case FILE_ABOUT:
    if (flick_files_about(files, path, &about))
      return -errno;
    describe(bytes.out, &about);
    return 0;
  case FILE_REMOVE:
    return result_of(flick_files_unlink(files, path));
  case FILE_REMOVE_DIRECTORY:
    return result_of(flick_files_remove_directory(files, path));
  case FILE_MAKE_DIRECTORY:
    return result_of(flick_files_make_directory(files, path));
  case FILE_RENAME:
  case FILE_LINK:
    second = second_path(server, bytes.in);
    if (!second)
      return -EXDEV;
    return result_of(operation == FILE_LINK ? flick_files_link(files, path, second)
                                            : flick_files_rename(files, path, second));
  case FILE_LIST:
    return list(files, path, arguments, bytes);
  }
  return -ENOSYS;
}

static int64_t by_path(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes) {
  // A server may be gone, and another one has its name.
  for (int tries = 0;; tries++) {
    const char *path = bytes.in;
    struct server *server = server_of(&path);
    if (!server)
      return -errno;
    card_lock(&servers.pages.word);
    int64_t result = execute_path(server, operation, path, arguments, bytes);
    card_unlock(&servers.pages.word);
    if (result == -EOWNERDEAD)
      server->is_gone = true;
    release(server);
    if (result != -EOWNERDEAD || tries)
      return result;
  }
}

static int64_t move_at(struct flick_file *file, uint32_t operation, const uint64_t *arguments,
                       struct file_bytes bytes) {
  off_t before = flick_file_seek(file, 0, SEEK_CUR);
  if (before < 0 || flick_file_seek(file, arguments[2], SEEK_SET) < 0)
    return -errno;
  int64_t result =
      result_of(operation == FILE_READ_AT ? flick_file_read(file, bytes.out, arguments[1])
                                          : flick_file_write(file, bytes.in, arguments[1]));
  return flick_file_seek(file, before, SEEK_SET) < 0 ? -errno : result;
}

static int64_t about_file(struct flick_file *file, struct file_bytes bytes) {
  struct flick_file_about about = {.kind = file->kind, .links = 1};
  off_t size = flick_file_size(file);
  if (size < 0)
    return -errno;
  about.size = size;
  describe(bytes.out, &about);
  return 0;
}

static int64_t flags_of(struct number *number, int command) {
  switch (command) {
  case F_GETFL:
    return number->flags & (O_ACCMODE | O_APPEND);
  case F_GETFD:
    return FD_CLOEXEC;
  case F_SETFD:
    return 0;
  }
  return -EINVAL;
}

// A low number is another name of a file from now on. `to` is negative: a free one. What stays
// behind it is a copy of the standard error, or of another file that is always open.
static int64_t duplicate(struct number *number, int64_t to) {
  if (to >= MOST_FILES)
    return -EBADF;
  int64_t low = -EBADF;
  for (int from = 2; low < 0 && from >= 0; from--)
    if (from == to && !__card_is_server_number(from))
      low = to;
    else if (!__card_is_server_number(from))
      low = CALL(FILE_DUPLICATE, NO_BYTES, from, to);
  if (low < 0)
    return low;
  places[low] = number - numbers;
  number->users++;
  __atomic_fetch_or(&__card_server_numbers, 1ul << low, __ATOMIC_RELAXED);
  return low;
}

static int64_t close_number(struct number *number, uint64_t name) {
  if (name < MOST_FILES) {
    __atomic_fetch_and(&__card_server_numbers, ~(1ul << name), __ATOMIC_RELAXED);
    CALL(FILE_CLOSE, NO_BYTES, name);
  }
  if (--number->users)
    return number->is_directory ? 0 : result_of(flick_file_commit(&number->file));
  free(number->path);
  int64_t result = number->is_directory ? 0 : result_of(flick_file_close(&number->file));
  release(number->server);
  number->is_used = false;
  return result;
}

static int64_t execute_directory(struct number *number, uint32_t operation,
                                 const uint64_t *arguments, struct file_bytes bytes) {
  struct flick_file_about about = {.kind = FLICK_FILES_KIND_DIRECTORY, .links = 1};
  switch (operation) {
  case FILE_CLOSE:
    return close_number(number, arguments[0]);
  case FILE_DUPLICATE:
    return duplicate(number, arguments[1]);
  case FILE_ABOUT_OPEN:
    describe(bytes.out, &about);
    return 0;
  case FILE_FLAGS:
    return flags_of(number, arguments[1]);
  case FILE_SEEK:
  case FILE_COMMIT:
    return 0;
  }
  return -EISDIR;
}

static int64_t execute_number(struct number *number, uint32_t operation, const uint64_t *arguments,
                              struct file_bytes bytes) {
  struct flick_file *file = &number->file;
  if (number->is_directory)
    return execute_directory(number, operation, arguments, bytes);
  switch (operation) {
  case FILE_CLOSE:
    return close_number(number, arguments[0]);
  case FILE_DUPLICATE:
    return duplicate(number, arguments[1]);
  case FILE_READ:
    return result_of(flick_file_read(file, bytes.out, arguments[1]));
  case FILE_WRITE:
    return result_of(flick_file_write(file, bytes.in, arguments[1]));
  case FILE_READ_AT:
  case FILE_WRITE_AT:
    return move_at(file, operation, arguments, bytes);
  case FILE_SEEK:
    return result_of(flick_file_seek(file, arguments[1], arguments[2]));
  case FILE_RESIZE:
    return result_of(flick_file_resize(file, arguments[1]));
  case FILE_ABOUT_OPEN:
    return about_file(file, bytes);
  case FILE_FLAGS:
    return flags_of(number, arguments[1]);
  case FILE_COMMIT:
    return result_of(flick_file_commit(file));
  }
  return -ENOSYS;
}

int64_t __card_server_file(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes) {
  if (operation_has_path(operation))
    return by_path(operation, arguments, bytes);
  uint64_t name = arguments[0];
  uint64_t place = name < MOST_FILES ? places[name] : name - MOST_FILES;
  if (place >= MOST_NUMBERS)
    return -EBADF;
  struct number *number = &numbers[place];
  card_lock(&number->lock.word);
  int64_t result = number->is_used ? execute_number(number, operation, arguments, bytes) : -EBADF;
  card_unlock(&number->lock.word);
  return result;
}

// A program ends: what it has written stays.
void __card_end_server_files(void) {
  for (struct number *number = numbers; has_numbers && number < numbers + MOST_NUMBERS; number++)
    if (number->is_used && !number->is_directory && card_try_lock(&number->lock.word))
      flick_file_commit(&number->file);
}

static struct number *number_of(int name) {
  if (name < 0 || !__card_is_server_number(name))
    return NULL;
  unsigned place = name < MOST_FILES ? places[name] : (unsigned)name - MOST_FILES;
  return place < MOST_NUMBERS && numbers[place].is_used ? &numbers[place] : NULL;
}

struct flick_file *flick_file_of(int name) {
  struct number *number = number_of(name);
  if (number && !number->is_directory)
    return &number->file;
  errno = EBADF;
  return NULL;
}

const char *__card_server_path(int name, int *flags) {
  struct number *number = number_of(name);
  if (!number)
    return NULL;
  *flags = number->flags & ~(O_CREAT | O_EXCL | O_TRUNC);
  return number->path;
}

// Lines of a number, flags and a path. What cannot be opened is closed.
void __card_open_spawned_files(const char *text) {
  while (*text) {
    char *rest, path[PATH_SIZE];
    int name = strtol(text, &rest, 10), flags = strtol(rest, &rest, 10);
    size_t size = strcspn(++rest, "\n");
    if (size >= sizeof path)
      return;
    memcpy(path, rest, size);
    path[size] = 0;
    text = rest + size + (rest[size] == '\n');
    int file = open(path, flags);
    if (file < 0 || dup2(file, name) < 0)
      close(name);
    if (file >= 0)
      close(file);
  }
  // It is not for programs that this one starts.
  unsetenv(SPAWNED_FILES);
}
