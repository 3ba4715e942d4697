// POSIX's names under /srv: those of servers on the root's tile (docs/files.md).
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "server_numbers.h"

static int64_t result_of(int64_t result) { return result < 0 ? -errno : result; }

// The server of a path, and the path there.
static struct server *server_of(const char **path) {
  const char *name = *path + strlen(SERVER_FILES), *end = name + strcspn(name, "/");
  if (end == name || end - name > MOST_SERVER_NAME) {
    errno = ENOENT;
    return NULL;
  }
  *path = *end ? end : "/";
  // Programs and servers start at the same time.
  return __card_find_server(name, end - name, flick_time() + flick_program.frequency);
}

static int64_t open_path(struct server *server, const char *path, int flags) {
  struct server_number *number = __card_take_number();
  if (!number)
    return -errno;
  if (flick_file_open(&server->files, &number->file, path, flags)) {
    number->is_directory = errno == EISDIR && !(flags & (O_ACCMODE | O_CREAT | O_TRUNC));
    if (!number->is_directory) {
      number->is_used = false;
      return -errno;
    }
  }
  return __card_open_number(number, server, flags);
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
    return open_path(server, path, arguments[0]);
  case FILE_ABOUT:
    if (flick_files_about(files, path, &about))
      return -errno;
    __card_describe(bytes.out, &about);
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

int64_t __card_server_path(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes) {
  // A server may be gone, and another one has its name.
  for (int tries = 0;; tries++) {
    const char *path = bytes.in;
    struct server *server = server_of(&path);
    if (!server)
      return -errno;
    card_lock(&__card_server_pages.word);
    int64_t result = execute_path(server, operation, path, arguments, bytes);
    card_unlock(&__card_server_pages.word);
    if (result == -EOWNERDEAD)
      server->is_gone = true;
    __card_release_server(server);
    if (result != -EOWNERDEAD || tries)
      return result;
  }
}
