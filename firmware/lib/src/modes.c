// What files lack: modes, and limits of their names. `remove` is for files and folders; picolibc's
// is for files.
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int chmod(const char *path, mode_t mode) {
  (void)mode;
  return access(path, F_OK);
}

long pathconf(const char *path, int name) {
  (void)path;
  (void)name;
  return -1;
}

int remove(const char *path) {
  int result = unlink(path);
  return result && errno == EISDIR ? rmdir(path) : result;
}
