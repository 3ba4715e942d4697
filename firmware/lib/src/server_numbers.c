// Open files of servers by their numbers: tables of the servers that a program has sessions with,
// and of its files. Each program is linked with these, since any may be started with such a file.
#include "server_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_table.h"
#include "server_call.h"

#define MOST_SERVERS 4
#define MOST_NUMBERS 48

// Who opens and closes holds `lock`.
static struct {
  struct card_word lock;
  _Alignas(CARD_LINE) struct server all[MOST_SERVERS];
} servers;

struct card_word __card_server_pages;
static struct server_number numbers[MOST_NUMBERS];

// Of low numbers of `__card_server_numbers`: the place of their file.
static uint8_t places[MOST_FILES];

// Numbers are touched when there have been files: each page takes memory then.
static bool has_numbers;

static int64_t result_of(int64_t result) { return result < 0 ? -errno : result; }

void __card_hold_server(struct server *server) {
  card_lock(&servers.lock.word);
  server->users++;
  card_unlock(&servers.lock.word);
}

void __card_release_server(struct server *server) {
  card_lock(&servers.lock.word);
  if (--server->users == 0 && server->is_gone)
    server->is_used = false;
  card_unlock(&servers.lock.word);
}

static struct server *find(const char *name, size_t size, uint64_t until) {
  struct server *free = NULL;
  for (struct server *server = servers.all; server < servers.all + MOST_SERVERS; server++) {
    if (!server->is_used)
      free = server;
    else if (!server->is_gone && !strncmp(server->name, name, size) && !server->name[size])
      return server;
  }
  // One that nobody uses goes for it.
  for (struct server *server = servers.all; !free && server < servers.all + MOST_SERVERS; server++)
    if (!server->users) {
      flick_files_disconnect(&server->files);
      free = server;
    }
  if (!free) {
    errno = EMFILE;
    return NULL;
  }
  *free = (struct server){0};
  memcpy(free->name, name, size);
  if (flick_files_connect(&free->files, free->name, until))
    return NULL;
  free->is_used = true;
  return free;
}

struct server *__card_find_server(const char *name, size_t size, uint64_t until) {
  card_lock(&servers.lock.word);
  struct server *server = find(name, size, until);
  if (server)
    server->users++;
  card_unlock(&servers.lock.word);
  return server;
}

void __card_describe(struct card_file_about *about, const struct flick_file_about *from) {
  const uint32_t modes[] = {S_IFREG | 0644, S_IFDIR | 0755, S_IFIFO | 0644, S_IFCHR | 0600};
  uint32_t mode = from->kind <= FLICK_FILES_KIND_TERMINAL ? modes[from->kind] : 0;
  *about = (struct card_file_about){
      .mode = mode, .links = from->links, .size = from->size, .number = from->number};
}

struct server_number *__card_take_number(void) {
  card_lock(&servers.lock.word);
  has_numbers = true;
  struct server_number *number = numbers;
  while (number < numbers + MOST_NUMBERS && number->is_used)
    number++;
  bool is_free = number < numbers + MOST_NUMBERS;
  if (is_free) {
    number->is_used = true;
    number->is_directory = false;
  }
  card_unlock(&servers.lock.word);
  if (is_free)
    return number;
  errno = EMFILE;
  return NULL;
}

int __card_open_number(struct server_number *number, struct server *server, int flags) {
  number->flags = flags;
  number->users = 1;
  number->server = server;
  __card_hold_server(server);
  if (flags & O_NONBLOCK)
    flick_file_set_waits(&number->file, false);
  return MOST_FILES + (number - numbers);
}

// A program that names no files is linked without this.
#pragma weak __card_server_path

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
  __card_describe(bytes.out, &about);
  return 0;
}

static int64_t flags_of(struct server_number *number, int command, int value) {
  switch (command) {
  case F_GETFL:
    return number->flags & (O_ACCMODE | O_APPEND | O_NONBLOCK);
  case F_SETFL:
    number->flags = (number->flags & ~O_NONBLOCK) | (value & O_NONBLOCK);
    flick_file_set_waits(&number->file, !(value & O_NONBLOCK));
    return 0;
  case F_GETFD:
    return FD_CLOEXEC;
  case F_SETFD:
    return 0;
  }
  return -EINVAL;
}

// A low number is another name of a file from now on. `to` is negative: a free one. What stays
// behind it is a copy of the standard error, or of another file that is always open.
static int64_t duplicate(struct server_number *number, int64_t to) {
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

static int64_t close_number(struct server_number *number, uint64_t name) {
  if (name < MOST_FILES) {
    __atomic_fetch_and(&__card_server_numbers, ~(1ul << name), __ATOMIC_RELAXED);
    CALL(FILE_CLOSE, NO_BYTES, name);
  }
  if (--number->users)
    return number->is_directory ? 0 : result_of(flick_file_commit(&number->file));
  int64_t result = number->is_directory ? 0 : result_of(flick_file_close(&number->file));
  __card_release_server(number->server);
  number->is_used = false;
  return result;
}

static int64_t execute_directory(struct server_number *number, uint32_t operation,
                                 const uint64_t *arguments, struct file_bytes bytes) {
  struct flick_file_about about = {.kind = FLICK_FILES_KIND_DIRECTORY, .links = 1};
  switch (operation) {
  case FILE_CLOSE:
    return close_number(number, arguments[0]);
  case FILE_DUPLICATE:
    return duplicate(number, arguments[1]);
  case FILE_ABOUT_OPEN:
    __card_describe(bytes.out, &about);
    return 0;
  case FILE_FLAGS:
    return arguments[1] == F_SETFL ? 0 : flags_of(number, arguments[1], 0);
  case FILE_SEEK:
  case FILE_COMMIT:
    return 0;
  }
  return -EISDIR;
}

static int64_t execute_number(struct server_number *number, uint32_t operation,
                              const uint64_t *arguments, struct file_bytes bytes) {
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
    return flags_of(number, arguments[1], arguments[2]);
  case FILE_COMMIT:
    return result_of(flick_file_commit(file));
  case FILE_READY:
    return result_of(flick_file_ready(file));
  }
  return -ENOSYS;
}

int64_t __card_server_file(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes) {
  if (operation_has_path(operation))
    return __card_server_path ? __card_server_path(operation, arguments, bytes) : -ENOSYS;
  uint64_t name = arguments[0];
  uint64_t place = name < MOST_FILES ? places[name] : name - MOST_FILES;
  if (place >= MOST_NUMBERS)
    return -EBADF;
  struct server_number *number = &numbers[place];
  // A thread that waits for the file has it: for others it is not ready.
  if (operation == FILE_READY && !card_try_lock(&number->lock.word))
    return 0;
  if (operation != FILE_READY)
    card_lock(&number->lock.word);
  int64_t result = number->is_used ? execute_number(number, operation, arguments, bytes) : -EBADF;
  card_unlock(&number->lock.word);
  return result;
}

// A program ends: what it has written stays.
void __card_end_server_files(void) {
  for (struct server_number *number = numbers; has_numbers && number < numbers + MOST_NUMBERS;
       number++)
    if (number->is_used && !number->is_directory && card_try_lock(&number->lock.word))
      flick_file_commit(&number->file);
}

struct server_number *__card_number_of(int name) {
  if (name < 0 || !__card_is_server_number(name))
    return NULL;
  unsigned place = name < MOST_FILES ? places[name] : (unsigned)name - MOST_FILES;
  return place < MOST_NUMBERS && numbers[place].is_used ? &numbers[place] : NULL;
}

struct flick_file *flick_file_of(int name) {
  struct server_number *number = __card_number_of(name);
  if (number && !number->is_directory)
    return &number->file;
  errno = EBADF;
  return NULL;
}

// The number behind digits and a blank.
static uint64_t take_hex(const char **text) {
  uint64_t value = 0;
  for (; **text && **text != ' ' && **text != '\n'; ++*text)
    value = value << 4 | ((**text & 15) + (**text > '9' ? 9 : 0));
  *text += **text == ' ';
  return value;
}

static bool adopt(struct server *server, int low, uint64_t shared, uint64_t key) {
  struct server_number *number = __card_take_number();
  if (!number)
    return false;
  if (flick_file_adopt(&server->files, &number->file, shared, key)) {
    number->is_used = false;
    return false;
  }
  uint64_t how = number->file.flags;
  int flags = (how & 3) == 3 ? O_RDWR : how & FLICK_WRITE ? O_WRONLY : O_RDONLY;
  int name = __card_open_number(number, server, flags | (how & FLICK_FILES_APPEND ? O_APPEND : 0));
  bool is_there = duplicate(number, low) == low;
  close_number(number, name);
  return is_there;
}

// Lines of a low number, what has been shared, its key, and the name of the server. What cannot be
// had is closed.
void __card_open_spawned_files(const char *text) {
  while (*text) {
    size_t size = strcspn(text, "\n");
    const char *end = text + size;
    if (*text == '/') {
      __card_begin_directory(text, size);
    } else {
      int low = take_hex(&text);
      uint64_t shared = take_hex(&text), key = take_hex(&text);
      if (low >= MOST_FILES || end - text > MOST_SERVER_NAME)
        return;
      struct server *server =
          __card_find_server(text, end - text, flick_time() + flick_program.frequency);
      if (!server || !adopt(server, low, shared, key))
        CALL(FILE_CLOSE, NO_BYTES, low);
      __card_note_file(low, -1);
      if (server)
        __card_release_server(server);
    }
    text = end + (*end == '\n');
  }
}
