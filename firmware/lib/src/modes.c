// What files lack: modes, owners, times, devices, links by name, and limits of their names.
// `remove` is for files and folders; picolibc's is for files.
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

int chmod(const char *path, mode_t mode) {
  (void)mode;
  return access(path, F_OK);
}

int fchmod(int number, mode_t mode) {
  (void)mode;
  struct stat about;
  return fstat(number, &about);
}

int chown(const char *path, uid_t user, gid_t group) {
  (void)user;
  (void)group;
  return access(path, F_OK);
}

int lchown(const char *path, uid_t user, gid_t group) { return chown(path, user, group); }

int fchown(int number, uid_t user, gid_t group) {
  (void)user;
  (void)group;
  struct stat about;
  return fstat(number, &about);
}

// Files are made as the servers make them.
mode_t umask(mode_t mode) {
  (void)mode;
  return 022;
}

int utime(const char *path, const struct utimbuf *times) {
  (void)times;
  return access(path, F_OK);
}

int utimes(const char *path, const struct timeval times[2]) {
  (void)times;
  return access(path, F_OK);
}

static int refuse(int error) {
  errno = error;
  return -1;
}

int mknod(const char *path, mode_t mode, dev_t device) {
  (void)path;
  (void)mode;
  (void)device;
  return refuse(EPERM);
}

int symlink(const char *path, const char *name) {
  (void)path;
  (void)name;
  return refuse(EPERM);
}

ssize_t readlink(const char *restrict path, char *restrict buffer, size_t size) {
  (void)buffer;
  (void)size;
  return access(path, F_OK) ? -1 : refuse(EINVAL);
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

int ioctl(int number, unsigned long call, ...) {
  (void)call;
  struct stat about;
  return fstat(number, &about) ? -1 : refuse(ENOTTY);
}
