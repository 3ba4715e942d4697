// chdir and getcwd.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"

int chdir(const char *path) {
  char full[PATH_SIZE], clean[PATH_SIZE];
  struct stat about;
  path = __card_full_path(path, full);
  if (!path || !__card_add_parts(clean, 0, path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  if (stat(clean, &about))
    return -1;
  if (!S_ISDIR(about.st_mode)) {
    errno = ENOTDIR;
    return -1;
  }
  size_t size = strlen(clean);
  if (clean[size - 1] == '/')
    clean[size - 1] = 0;
  __card_set_directory(clean);
  return 0;
}

char *getcwd(char *buffer, size_t size) {
  char path[PATH_SIZE];
  size_t used = __card_copy_directory(path) + 1;
  if (used == 1) {
    strcpy(path, "/");
    used = 2;
  }
  if (!buffer)
    buffer = malloc(size = size ? size : used);
  if (!buffer)
    return NULL;
  if (size < used) {
    errno = ERANGE;
    return NULL;
  }
  return memcpy(buffer, path, used);
}
