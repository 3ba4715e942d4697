// Files of a server, by a session (docs/files.md).
#include <errno.h>
#include <fcntl.h>
#include <flick/files.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "server_messages.h"

// What a server takes as a path.
#define MOST_PATH 1024

// A full gate has room soon. A server's refusal is an error of its own.
static int ask_in(uint64_t way, const uint64_t *words, size_t size, struct server_answer *answer) {
  int64_t result;
  while ((result = flick_gate_call(way, (uintptr_t)words, size, (uintptr_t)answer,
                                   FLICK_FOR_EVER)) == -FLICK_EAGAIN)
    flick_thread_sleep(server_soon(10000));
  if (result < 0)
    return server_kernel_fails(result);
  if (result < 8 || answer->words[0] > 4096)
    return server_fails(EIO);
  if (answer->words[0])
    return server_fails(flick_errno(-(int64_t)answer->words[0]));
  return 0;
}

int __card_ask_server(uint64_t way, uint64_t operation, uint64_t a, uint64_t b,
                      struct server_answer *answer) {
  uint64_t words[] = {operation, a, b};
  return ask_in(way, words, sizeof words, answer);
}

static int ask(struct flick_files *files, uint64_t operation, uint64_t a, uint64_t b,
               struct server_answer *answer) {
  return __card_ask_server(files->session, operation, a, b, answer);
}

int flick_files_connect(struct flick_files *files, const char *server, uint64_t until) {
  int64_t session;
  for (;;) {
    uint64_t most = until ? until : server_soon(1);
    session = flick_session_open((uintptr_t)server, strlen(server), 0, most);
    bool may_come = session == -FLICK_ENOENT || session == -FLICK_EAGAIN;
    if (!may_come || flick_time() >= until)
      break;
    flick_thread_sleep(server_soon(1000));
  }
  if (session < 0)
    return server_fails(flick_errno(session));
  struct server_answer answer;
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
  return result < 0 ? server_kernel_fails(result) : 0;
}

// A request with paths. Short ones are in its message, and others in the session's page.
struct path_request {
  uint64_t words[15];
  size_t size, sizes[2];
};

enum { FIRST_OF_PATHS = 3, MOST_IN_MESSAGE = 8 * (15 - FIRST_OF_PATHS) };

static int put_paths(struct flick_files *files, const char *path, const char *other,
                     struct path_request *request) {
  size_t first = strlen(path), second = other ? strlen(other) : 0, both = first + second;
  if (first > MOST_PATH || second > MOST_PATH)
    return server_fails(ENAMETOOLONG);
  request->size = 8 * FIRST_OF_PATHS;
  request->sizes[0] = first;
  request->sizes[1] = second;
  char long_paths[2 * MOST_PATH], *to = long_paths;
  bool is_short = both <= MOST_IN_MESSAGE;
  if (is_short) {
    // A server takes the paths from a message that is longer than others.
    request->size += both ? (both + 7) / 8 * 8 : 8;
    request->words[request->size / 8 - 1] = 0;
    to = (char *)(request->words + FIRST_OF_PATHS);
  }
  memcpy(to, path, first);
  if (other)
    memcpy(to + first, other, second);
  int64_t result = is_short ? 0 : flick_tile_store(files->page, 0, (uintptr_t)to, both);
  return result < 0 ? server_kernel_fails(result) : 0;
}

static int ask_with_paths(struct flick_files *files, struct path_request *request,
                          uint64_t operation, uint64_t a, uint64_t b,
                          struct server_answer *answer) {
  request->words[0] = operation;
  request->words[1] = a;
  request->words[2] = b;
  return ask_in(files->session, request->words, request->size, answer);
}

// An operation with paths, whose sizes are its arguments.
static int by_path(struct flick_files *files, uint64_t operation, const char *path,
                   const char *other, struct server_answer *answer) {
  struct path_request request;
  if (put_paths(files, path, other, &request))
    return -1;
  return ask_with_paths(files, &request, operation, request.sizes[0], request.sizes[1], answer);
}

int flick_files_about(struct flick_files *files, const char *path, struct flick_file_about *about) {
  struct server_answer answer;
  if (by_path(files, FLICK_FILES_ABOUT, path, NULL, &answer))
    return -1;
  memcpy(about, answer.words + 1, sizeof *about);
  return 0;
}

int flick_files_make_directory(struct flick_files *files, const char *path) {
  struct server_answer answer;
  return by_path(files, FLICK_FILES_MAKE_DIRECTORY, path, NULL, &answer);
}

int flick_files_remove_directory(struct flick_files *files, const char *path) {
  struct server_answer answer;
  return by_path(files, FLICK_FILES_REMOVE_DIRECTORY, path, NULL, &answer);
}

int flick_files_link(struct flick_files *files, const char *path, const char *new_path) {
  struct server_answer answer;
  return by_path(files, FLICK_FILES_LINK, path, new_path, &answer);
}

int flick_files_unlink(struct flick_files *files, const char *path) {
  struct server_answer answer;
  return by_path(files, FLICK_FILES_UNLINK, path, NULL, &answer);
}

int flick_files_rename(struct flick_files *files, const char *path, const char *new_path) {
  struct server_answer answer;
  return by_path(files, FLICK_FILES_RENAME, path, new_path, &answer);
}

ssize_t flick_files_list(struct flick_files *files, const char *path, uint64_t first, char *list) {
  struct path_request request;
  struct server_answer answer;
  if (put_paths(files, path, NULL, &request) ||
      ask_with_paths(files, &request, FLICK_FILES_LIST, request.sizes[0], first, &answer))
    return -1;
  uint64_t size = answer.words[1];
  if (size > FLICK_FILES_PAGE)
    return server_fails(EIO);
  int64_t result = size ? flick_tile_load(files->page, 0, (uintptr_t)list, size) : 0;
  return result < 0 ? server_kernel_fails(result) : (ssize_t)size;
}

static uint64_t flags_of(int flags) {
  int how = flags & O_ACCMODE;
  return (how == O_WRONLY ? 0 : FLICK_READ) | (how == O_RDONLY ? 0 : FLICK_WRITE) |
         (flags & O_CREAT ? FLICK_FILES_CREATE : 0) | (flags & O_EXCL ? FLICK_FILES_EXCLUSIVE : 0) |
         (flags & O_TRUNC ? FLICK_FILES_TRUNCATE : 0) | (flags & O_APPEND ? FLICK_FILES_APPEND : 0);
}

int flick_file_open(struct flick_files *files, struct flick_file *file, const char *path,
                    int flags) {
  struct path_request request;
  struct server_answer answer;
  uint64_t how = flags_of(flags);
  if (put_paths(files, path, NULL, &request) ||
      ask_with_paths(files, &request, FLICK_FILES_OPEN, how, request.sizes[0], &answer))
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
  struct server_answer answer;
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
