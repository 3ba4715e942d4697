// Data of open files of servers: pieces that a server shows, positions, and what others share.
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "server_messages.h"

// What the kernel copies at once.
#define MOST_COPIED (64u << 10)
// A flag of an open file that is the client's alone.
#define DOES_NOT_WAIT (1ul << 32)

static bool is_pipe(const struct flick_file *file) { return file->kind >= FLICK_FILES_KIND_PIPE; }
static bool appends(const struct flick_file *file) { return file->flags & FLICK_FILES_APPEND; }
// Its position is what the server says, since others change it.
static bool is_shared(const struct flick_file *file) {
  return file->flags & FLICK_FILES_SHARED && !is_pipe(file);
}

// A request of the file protocol. A position that others have, too, is free again soon.
static int request(struct flick_file *file, uint64_t operation, uint64_t a, uint64_t b,
                   struct server_answer *answer) {
  int result;
  while ((result = __card_ask_server(file->requests, operation, a, b, answer)) && errno == EBUSY &&
         is_shared(file))
    flick_thread_sleep(server_soon(10000));
  return result;
}

static int seek_server(struct flick_file *file, uint64_t offset, uint64_t whence) {
  struct server_answer answer;
  if (request(file, FLICK_FILE_SEEK, offset, whence, &answer))
    return -1;
  file->position = file->server_position = answer.words[1];
  return 0;
}

// The server learns how much of the piece was used, and there is none any more.
int flick_file_commit(struct flick_file *file) {
  struct server_answer answer;
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
  struct server_answer answer;
  bool has_written = file->piece.rights & FLICK_WRITE;
  int failed = has_written ? flick_file_commit(file) : 0;
  return __card_ask_server(file->files->session, FLICK_FILES_CLOSE, file->number, 0, &answer) |
         failed;
}

// A piece at the position that may be used so. A length of 0 is the end.
static int next_piece(struct flick_file *file, uint64_t operation, uint64_t rights) {
  struct server_answer answer;
  // A request says that all of the last piece was used.
  if (file->piece.rights && file->piece.used == file->piece.length && !appends(file)) {
    file->server_position = file->piece.start + file->piece.length;
    file->piece.rights = 0;
  }
  if (flick_file_commit(file))
    return -1;
  bool is_known = is_shared(file) || (appends(file) && rights & FLICK_WRITE);
  if (!is_known && file->position != file->server_position &&
      seek_server(file, file->position, SEEK_SET))
    return -1;
  if (request(file, operation, file->flags & DOES_NOT_WAIT ? FLICK_FILE_DOES_NOT_WAIT : 0, 0,
              &answer))
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

static ssize_t read_pieces(struct flick_file *file, void *buffer, size_t size) {
  size_t done = 0;
  if (!(file->flags & FLICK_READ))
    return server_fails(EBADF);
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
      return done ? (ssize_t)done : server_kernel_fails(result);
    advance(file, part);
    done += part;
  }
  return done;
}

// Others go on behind what was read.
ssize_t flick_file_read(struct flick_file *file, void *buffer, size_t size) {
  ssize_t done = read_pieces(file, buffer, size);
  bool is_for_others = file->flags & FLICK_FILES_SHARED || file->kind == FLICK_FILES_KIND_TERMINAL;
  return is_for_others && flick_file_commit(file) ? -1 : done;
}

ssize_t flick_file_write(struct flick_file *file, const void *buffer, size_t size) {
  size_t done = 0;
  if (!(file->flags & FLICK_WRITE))
    return server_fails(EBADF);
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
      return done ? (ssize_t)done : server_kernel_fails(result);
    advance(file, part);
    done += part;
  }
  // Who reads a pipe waits for it.
  if ((is_pipe(file) || is_shared(file)) && flick_file_commit(file))
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
    return server_fails(ESPIPE);
  if (whence < SEEK_SET || whence > SEEK_END)
    return server_fails(EINVAL);
  bool is_known = !appends(file) && !is_shared(file);
  if (whence == SEEK_CUR && is_known) {
    off_t to;
    if (__builtin_add_overflow((off_t)file->position, offset, &to) || to < 0)
      return server_fails(EINVAL);
    offset = to;
    whence = SEEK_SET;
  }
  if (whence == SEEK_SET && offset < 0)
    return server_fails(EINVAL);
  if (whence == SEEK_SET && is_known) {
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
  struct server_answer answer;
  if (flick_file_commit(file))
    return -1;
  return __card_ask_server(file->files->session, FLICK_FILES_RESIZE, file->number, size, &answer);
}

off_t flick_file_size(struct flick_file *file) {
  struct server_answer answer;
  if (flick_file_commit(file) || request(file, FLICK_FILE_STAT, 0, 0, &answer))
    return -1;
  return answer.words[2];
}

int flick_file_share(struct flick_file *file, uint64_t key, uint64_t *number) {
  struct server_answer answer;
  if (flick_file_commit(file) ||
      (!is_shared(file) && !is_pipe(file) && seek_server(file, file->position, SEEK_SET)) ||
      __card_ask_server(file->files->session, FLICK_FILES_SHARE, file->number, key, &answer))
    return -1;
  file->flags |= FLICK_FILES_SHARED;
  *number = answer.words[1];
  return 0;
}

int flick_file_adopt(struct flick_files *files, struct flick_file *file, uint64_t number,
                     uint64_t key) {
  struct server_answer answer;
  if (__card_ask_server(files->session, FLICK_FILES_ADOPT, number, key, &answer))
    return -1;
  *file = (struct flick_file){.files = files,
                              .number = answer.words[1],
                              .requests = answer.words[2],
                              .data = answer.words[3],
                              .kind = answer.words[4],
                              .flags = answer.words[5]};
  // Where it stands is what the server knows.
  return is_pipe(file) ? 0 : seek_server(file, 0, SEEK_CUR);
}

int flick_file_ready(struct flick_file *file) {
  struct server_answer answer;
  if (!is_pipe(file))
    return FLICK_FILES_READY_READ | FLICK_FILES_READY_WRITE;
  // What it has a piece for needs no request.
  if (readable(file))
    return FLICK_FILES_READY_READ;
  // The server does not know yet what was read of the last piece.
  if (flick_file_commit(file))
    return -1;
  return __card_ask_server(file->files->session, FLICK_FILES_READY, file->number, 0, &answer)
             ? -1
             : (int)answer.words[1];
}

void flick_file_set_waits(struct flick_file *file, int waits) {
  file->flags = waits ? file->flags & ~DOES_NOT_WAIT : file->flags | DOES_NOT_WAIT;
}
