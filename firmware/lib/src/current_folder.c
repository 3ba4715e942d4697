// The folder in which names without a slash in front are. A program begins in the root, or where
// the program was that has started it. The library alone knows where it is.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "thread.h"

// Without a slash at its end: the root is empty.
static struct {
  struct card_word lock;
  char path[PATH_SIZE];
} folder;

// Puts the names of `path` behind those of `full`. There are no links by name, so that `..` is the
// name in front.
static int64_t append(char *full, const char *path) {
  size_t size = strlen(full);
  while (*path) {
    size_t length = strcspn(path, "/");
    bool is_up = length == 2 && path[0] == '.' && path[1] == '.';
    if (is_up) {
      while (size && full[--size] != '/')
        ;
    } else if (length && !(length == 1 && *path == '.')) {
      if (size + length + 2 > PATH_SIZE)
        return -ENAMETOOLONG;
      full[size++] = '/';
      memcpy(full + size, path, length);
      size += length;
    }
    full[size] = 0;
    path += length + (path[length] == '/');
  }
  return 0;
}

// Bytes of a path. Is there a name in it that is `..`? One pass, since each call for a name makes
// it.
static size_t look_at(const char *path, bool *goes_up) {
  const char *at = path;
  *goes_up = false;
  for (char before = '/'; *at; before = *at++)
    *goes_up |= before == '/' && at[0] == '.' && at[1] == '.' && (!at[2] || at[2] == '/');
  return at - path;
}

const char *__card_full_path(const char *path, char *full, size_t *size) {
  bool goes_up;
  *size = look_at(path, &goes_up) + 1;
  if (*size > PATH_SIZE)
    return NULL;
  *full = 0;
  if (*path && *path != '/') {
    card_lock(&folder.lock.word);
    strcpy(full, folder.path);
    card_unlock(&folder.lock.word);
  }
  // Most names are from the root, or there.
  if (!*full && !goes_up)
    return path;
  if (append(full, path))
    return NULL;
  if (!*full)
    strcpy(full, "/");
  *size = strlen(full) + 1;
  return full;
}

int64_t __card_enter_folder(const char *path) {
  char full[PATH_SIZE];
  *full = 0;
  card_lock(&folder.lock.word);
  if (*path != '/')
    strcpy(full, folder.path);
  int64_t result = append(full, path);
  if (result == 0)
    strcpy(folder.path, full);
  card_unlock(&folder.lock.word);
  return result;
}

void __card_begin_directory(const char *path, size_t size) {
  if (size < PATH_SIZE && size > 1)
    memcpy(folder.path, path, size);
}

char *getcwd(char *buffer, size_t size) {
  char path[PATH_SIZE];
  card_lock(&folder.lock.word);
  strcpy(path, *folder.path ? folder.path : "/");
  card_unlock(&folder.lock.word);
  size_t needed = strlen(path) + 1;
  if (!buffer && !size)
    size = needed;
  if (size < needed) {
    errno = ERANGE;
    return NULL;
  }
  if (!buffer && !(buffer = malloc(size)))
    return NULL;
  return strcpy(buffer, path);
}
