// Files of a server, by a session (docs/files.md).
#include <errno.h>
#include <fcntl.h>
#include <flick/files.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

// What the kernel copies at once.
#define MOST_COPIED (64u << 10)
// What a server takes as a path.
#define MOST_PATH 1024

// Words of an answer.
struct answer {
  uint64_t words[15];
};

static int fails(int error) {
  errno = error;
  return -1;
}

static int fails_with(int64_t result) { return fails(flick_errno(result)); }

// The capabilities of a client go with its server.
static int kernel_fails(int64_t result) {
  return result == -FLICK_ENOENT ? fails(EOWNERDEAD) : fails_with(result);
}

static uint64_t soon(uint64_t part) { return flick_time() + flick_program.frequency / part; }

// A full gate has room soon. A server's refusal is an error of its own.
static int call(uint64_t way, const uint64_t *words, size_t count, struct answer *answer) {
  int64_t result;
  while ((result = flick_gate_call(way, (uintptr_t)words, count * 8, (uintptr_t)answer,
                                   FLICK_FOR_EVER)) == -FLICK_EAGAIN)
    flick_thread_sleep(soon(10000));
  if (result < 0)
    return kernel_fails(result);
  if (result < 8 || answer->words[0] > 4096)
    return fails(EIO);
  if (answer->words[0])
    return fails_with(-(int64_t)answer->words[0]);
  return 0;
}

static int ask(struct flick_files *files, uint64_t operation, uint64_t a, uint64_t b,
               struct answer *answer) {
  return call(files->session, (uint64_t[]){operation, a, b}, 3, answer);
}

int flick_files_connect(struct flick_files *files, const char *server, uint64_t until) {
  int64_t session;
  for (;;) {
    session = flick_session_open((uintptr_t)server, strlen(server), 0, until);
    bool may_come = session == -FLICK_ENOENT || session == -FLICK_EAGAIN;
    if (!may_come || flick_time() >= until)
      break;
    flick_thread_sleep(soon(1000));
  }
  if (session < 0)
    return fails_with(session);
  struct answer answer;
  files->session = session;
  if (ask(files, FLICK_FILES_BEGIN, 0, 0, &answer)) {
    flick_capability_revoke(session);
    return -1;
  }
  files->page = answer.words[1];
  return 0;
}

int flick_files_disconnect(struct flick_files *files) {
  int64_t result = flick_capability_revoke(files->session);
  return result < 0 ? kernel_fails(result) : 0;
}

// Puts a path into the session's page, and another one behind it.
static int put_paths(struct flick_files *files, const char *path, const char *other,
                     size_t sizes[2]) {
  char both[2 * MOST_PATH];
  sizes[0] = strlen(path);
  sizes[1] = other ? strlen(other) : 0;
  if (sizes[0] > MOST_PATH || sizes[1] > MOST_PATH)
    return fails(ENAMETOOLONG);
  memcpy(both, path, sizes[0]);
  if (other)
    memcpy(both + sizes[0], other, sizes[1]);
  int64_t result = flick_tile_store(files->page, 0, (uintptr_t)both, sizes[0] + sizes[1]);
  return result < 0 ? kernel_fails(result) : 0;
}

// An operation with paths, whose sizes are its arguments.
static int by_path(struct flick_files *files, uint64_t operation, const char *path,
                   const char *other, struct answer *answer) {
  size_t sizes[2];
  if (put_paths(files, path, other, sizes))
    return -1;
  return ask(files, operation, sizes[0], sizes[1], answer);
}

int flick_files_about(struct flick_files *files, const char *path, struct flick_file_about *about) {
  struct answer answer;
  if (by_path(files, FLICK_FILES_ABOUT, path, NULL, &answer))
    return -1;
  memcpy(about, answer.words + 1, sizeof *about);
  return 0;
}

int flick_files_make_directory(struct flick_files *files, const char *path) {
  struct answer answer;
  return by_path(files, FLICK_FILES_MAKE_DIRECTORY, path, NULL, &answer);
}

int flick_files_remove_directory(struct flick_files *files, const char *path) {
  struct answer answer;
  return by_path(files, FLICK_FILES_REMOVE_DIRECTORY, path, NULL, &answer);
}

int flick_files_link(struct flick_files *files, const char *path, const char *new_path) {
  struct answer answer;
  return by_path(files, FLICK_FILES_LINK, path, new_path, &answer);
}

int flick_files_unlink(struct flick_files *files, const char *path) {
  struct answer answer;
  return by_path(files, FLICK_FILES_UNLINK, path, NULL, &answer);
}

int flick_files_rename(struct flick_files *files, const char *path, const char *new_path) {
  struct answer answer;
  return by_path(files, FLICK_FILES_RENAME, path, new_path, &answer);
}

ssize_t flick_files_list(struct flick_files *files, const char *path, uint64_t first, char *list) {
  size_t sizes[2];
  struct answer answer;
  if (put_paths(files, path, NULL, sizes) || ask(files, FLICK_FILES_LIST, sizes[0], first, &answer))
    return -1;
  uint64_t size = answer.words[1];
  if (size > FLICK_FILES_PAGE)
    return fails(EIO);
  int64_t result = size ? flick_tile_load(files->page, 0, (uintptr_t)list, size) : 0;
  return result < 0 ? kernel_fails(result) : (ssize_t)size;
}

static uint64_t flags_of(int flags) {
  int how = flags & O_ACCMODE;
  return (how == O_WRONLY ? 0 : FLICK_READ) | (how == O_RDONLY ? 0 : FLICK_WRITE) |
         (flags & O_CREAT ? FLICK_FILES_CREATE : 0) | (flags & O_EXCL ? FLICK_FILES_EXCLUSIVE : 0) |
         (flags & O_TRUNC ? FLICK_FILES_TRUNCATE : 0) | (flags & O_APPEND ? FLICK_FILES_APPEND : 0);
}

int flick_file_open(struct flick_files *files, struct flick_file *file, const char *path,
                    int flags) {
  size_t sizes[2];
  struct answer answer;
  uint64_t how = flags_of(flags);
  if (put_paths(files, path, NULL, sizes) || ask(files, FLICK_FILES_OPEN, how, sizes[0], &answer))
    return -1;
  *file = (struct flick_file){.files = files,
                              .number = answer.words[1],
                              .requests = answer.words[2],
                              .data = answer.words[3],
                              .kind = answer.words[4],
                              .flags = how};
  return 0;
}

int flick_files_pipe(struct flick_files *files, struct flick_file ends[2]) {
  struct answer answer;
  if (ask(files, FLICK_FILES_PIPE, 0, 0, &answer))
    return -1;
  for (int n = 0; n < 2; n++)
    ends[n] = (struct flick_file){.files = files,
                                  .number = answer.words[1 + 3 * n],
                                  .requests = answer.words[2 + 3 * n],
                                  .data = answer.words[3 + 3 * n],
                                  .kind = FLICK_FILES_KIND_PIPE,
                                  .flags = n ? FLICK_WRITE : FLICK_READ};
  return 0;
}

// A request of the file protocol.
static int request(struct flick_file *file, uint64_t operation, uint64_t a, uint64_t b,
                   struct answer *answer) {
  return call(file->requests, (uint64_t[]){operation, a, b}, 3, answer);
}

static int seek_server(struct flick_file *file, uint64_t offset, uint64_t whence) {
  struct answer answer;
  if (request(file, FLICK_FILE_SEEK, offset, whence, &answer))
    return -1;
  file->position = file->server_position = answer.words[1];
  return 0;
}

static bool is_pipe(const struct flick_file *file) { return file->kind == FLICK_FILES_KIND_PIPE; }
static bool appends(const struct flick_file *file) { return file->flags & FLICK_FILES_APPEND; }

// The server learns how much of the piece was used, and there is none any more.
int flick_file_commit(struct flick_file *file) {
  struct answer answer;
  uint64_t rights = file->piece.rights;
  if (!rights)
    return 0;
  file->piece.rights = 0;
  file->server_position = file->piece.start + file->piece.used;
  if (request(file, FLICK_FILE_COMMIT, file->piece.used, 0, &answer))
    return -1;
  // Where the end was is what the server knows.
  bool asks = appends(file) && rights == (FLICK_READ | FLICK_WRITE);
  return asks ? seek_server(file, 0, SEEK_CUR) : 0;
}

int flick_file_close(struct flick_file *file) {
  struct answer answer;
  bool has_written = file->piece.rights & FLICK_WRITE;
  int failed = has_written ? flick_file_commit(file) : 0;
  return ask(file->files, FLICK_FILES_CLOSE, file->number, 0, &answer) | failed;
}

// A piece at the position that may be used so. A length of 0 is the end.
static int next_piece(struct flick_file *file, uint64_t operation, uint64_t rights) {
  struct answer answer;
  // A request says that all of the last piece was used.
  if (file->piece.rights && file->piece.used == file->piece.length && !appends(file)) {
    file->server_position = file->piece.start + file->piece.length;
    file->piece.rights = 0;
  }
  if (flick_file_commit(file))
    return -1;
  bool is_at_end = appends(file) && rights & FLICK_WRITE;
  if (!is_at_end && file->position != file->server_position &&
      seek_server(file, file->position, SEEK_SET))
    return -1;
  if (request(file, operation, 0, 0, &answer))
    return -1;
  file->piece.start = file->position;
  file->piece.offset = answer.words[1];
  file->piece.length = answer.words[2];
  file->piece.at = file->piece.used = 0;
  file->piece.rights = answer.words[2] ? rights : 0;
  return 0;
}

// Bytes of the piece that can be read from the position on. Of one that is written, these are what
// was written.
static uint64_t readable(const struct flick_file *file) {
  if (!(file->piece.rights & FLICK_READ))
    return 0;
  uint64_t end = file->piece.rights & FLICK_WRITE ? file->piece.used : file->piece.length;
  return end - file->piece.at;
}

static void advance(struct flick_file *file, uint64_t size) {
  file->position += size;
  file->piece.at += size;
  if (file->piece.used < file->piece.at)
    file->piece.used = file->piece.at;
}

ssize_t flick_file_read(struct flick_file *file, void *buffer, size_t size) {
  size_t done = 0;
  if (!(file->flags & FLICK_READ))
    return fails(EBADF);
  while (done < size) {
    uint64_t part = readable(file);
    // A pipe is not waited for when there are bytes.
    if (!part && done && is_pipe(file))
      break;
    if (!part) {
      if (next_piece(file, FLICK_FILE_NEXT_IN, FLICK_READ))
        return done ? (ssize_t)done : -1;
      part = readable(file);
      if (!part)
        break;
    }
    if (part > size - done)
      part = size - done;
    if (part > MOST_COPIED)
      part = MOST_COPIED;
    int64_t result = flick_tile_load(file->data, file->piece.offset + file->piece.at,
                                     (uintptr_t)buffer + done, part);
    if (result < 0)
      return done ? (ssize_t)done : kernel_fails(result);
    advance(file, part);
    done += part;
  }
  return done;
}

ssize_t flick_file_write(struct flick_file *file, const void *buffer, size_t size) {
  size_t done = 0;
  if (!(file->flags & FLICK_WRITE))
    return fails(EBADF);
  // A program that reads, too, reads what it has written without a request.
  uint64_t rights = file->flags & (FLICK_READ | FLICK_WRITE);
  uint64_t operation = rights & FLICK_READ ? FLICK_FILE_NEXT_INOUT : FLICK_FILE_NEXT_OUT;
  while (done < size) {
    bool writes = file->piece.rights & FLICK_WRITE;
    uint64_t part = writes ? file->piece.length - file->piece.at : 0;
    if (!part) {
      if (next_piece(file, operation, rights))
        return done ? (ssize_t)done : -1;
      part = file->piece.length;
    }
    if (part > size - done)
      part = size - done;
    if (part > MOST_COPIED)
      part = MOST_COPIED;
    int64_t result = flick_tile_store(file->data, file->piece.offset + file->piece.at,
                                      (uintptr_t)buffer + done, part);
    if (result < 0)
      return done ? (ssize_t)done : kernel_fails(result);
    advance(file, part);
    done += part;
  }
  // Who reads a pipe waits for it.
  if (is_pipe(file) && flick_file_commit(file))
    return -1;
  return done;
}

// Within what was read or written it needs no request.
static bool seek_in_piece(struct flick_file *file, off_t to) {
  uint64_t at = to - file->piece.start;
  bool writes = file->piece.rights & FLICK_WRITE;
  uint64_t end = writes ? file->piece.used : file->piece.length;
  if (!file->piece.rights || (uint64_t)to < file->piece.start || at > end)
    return false;
  file->piece.at = 0;
  file->position = file->piece.start;
  advance(file, at);
  return true;
}

off_t flick_file_seek(struct flick_file *file, off_t offset, int whence) {
  if (is_pipe(file))
    return fails(ESPIPE);
  if (whence < SEEK_SET || whence > SEEK_END)
    return fails(EINVAL);
  if (whence == SEEK_CUR && !appends(file)) {
    off_t to;
    if (__builtin_add_overflow((off_t)file->position, offset, &to) || to < 0)
      return fails(EINVAL);
    offset = to;
    whence = SEEK_SET;
  }
  if (whence == SEEK_SET && offset < 0)
    return fails(EINVAL);
  if (whence == SEEK_SET && !appends(file)) {
    if (!seek_in_piece(file, offset)) {
      if (flick_file_commit(file))
        return -1;
      file->position = offset;
    }
    return offset;
  }
  if (flick_file_commit(file) || seek_server(file, offset, whence))
    return -1;
  return file->position;
}

int flick_file_resize(struct flick_file *file, off_t size) {
  struct answer answer;
  if (flick_file_commit(file))
    return -1;
  return ask(file->files, FLICK_FILES_RESIZE, file->number, size, &answer);
}

off_t flick_file_size(struct flick_file *file) {
  struct answer answer;
  if (flick_file_commit(file) || request(file, FLICK_FILE_STAT, 0, 0, &answer))
    return -1;
  return answer.words[2];
}
