// POSIX's calls for files, as calls of Linux. Flags and structures have picolibc's numbers here.
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "system_calls.h"

#define HERE LINUX_AT_FDCWD
#define FILE_CALL1(number, a) linux_file_call(LINUX_##number, (int64_t)(a), 0, 0, 0, 0)
#define FILE_CALL2(number, a, b)                                                                   \
  linux_file_call(LINUX_##number, (int64_t)(a), (int64_t)(b), 0, 0, 0)
#define FILE_CALL3(number, a, b, c)                                                                \
  linux_file_call(LINUX_##number, (int64_t)(a), (int64_t)(b), (int64_t)(c), 0, 0)
#define FILE_CALL4(number, a, b, c, d)                                                             \
  linux_file_call(LINUX_##number, (int64_t)(a), (int64_t)(b), (int64_t)(c), (int64_t)(d), 0)

// Linux's flags by picolibc's.
static int64_t linux_flags(int flags) {
  int64_t same = flags & (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND);
  return same | (flags & O_EXCL ? 0x80 : 0) | (flags & O_NONBLOCK ? 0x800 : 0) |
         (flags & O_CLOEXEC ? 0x80000 : 0);
}
_Static_assert(O_CREAT == 0x40 && O_TRUNC == 0x200 && O_APPEND == 0x400, "as Linux's");

int open(const char *path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  int mode = flags & O_CREAT ? va_arg(values, int) : 0;
  va_end(values);
  return FILE_CALL4(OPENAT, HERE, path, linux_flags(flags), mode);
}

int close(int file) { return FILE_CALL1(CLOSE, file); }
ssize_t read(int file, void *to, size_t size) { return FILE_CALL3(READ, file, to, size); }
ssize_t write(int file, const void *from, size_t size) {
  return FILE_CALL3(WRITE, file, from, size);
}
ssize_t pread(int file, void *to, size_t size, off_t at) {
  return FILE_CALL4(PREAD64, file, to, size, at);
}
ssize_t pwrite(int file, const void *from, size_t size, off_t at) {
  return FILE_CALL4(PWRITE64, file, from, size, at);
}
off_t lseek(int file, off_t offset, int whence) { return FILE_CALL3(LSEEK, file, offset, whence); }
int ftruncate(int file, off_t size) { return FILE_CALL2(FTRUNCATE, file, size); }
int fsync(int file) { return FILE_CALL1(FSYNC, file); }
int dup(int file) { return FILE_CALL1(DUP, file); }
int dup2(int file, int same) { return file == same ? file : FILE_CALL3(DUP3, file, same, 0); }

int fcntl(int file, int command, ...) {
  va_list values;
  va_start(values, command);
  int64_t value = va_arg(values, int64_t);
  va_end(values);
  return FILE_CALL3(FCNTL, file, command, command == F_SETFL ? linux_flags(value) : value);
}
_Static_assert(F_GETFD == 1 && F_SETFD == 2 && F_GETFL == 3 && F_SETFL == 4, "as Linux's");

// asm-generic/stat.h
struct linux_stat {
  uint64_t device, number;
  uint32_t mode, links, user, group;
  uint64_t special, unused;
  int64_t size;
  int32_t block_size, unused2;
  int64_t blocks;
  struct {
    int64_t seconds;
    uint64_t nanoseconds;
  } accessed, modified, changed;
  uint32_t unused3[2];
};

static int describe(int64_t result, const struct linux_stat *from, struct stat *about) {
  if (result < 0)
    return -1;
  *about = (struct stat){.st_dev = from->device,
                         .st_ino = from->number,
                         .st_mode = from->mode,
                         .st_nlink = from->links,
                         .st_uid = from->user,
                         .st_gid = from->group,
                         .st_size = from->size,
                         .st_blksize = from->block_size,
                         .st_blocks = from->blocks};
  about->st_mtim.tv_sec = from->modified.seconds;
  return 0;
}

static int stat_with(const char *path, struct stat *about, int flags) {
  struct linux_stat from;
  return describe(FILE_CALL4(NEWFSTATAT, HERE, path, &from, flags), &from, about);
}

int stat(const char *restrict path, struct stat *restrict about) {
  return stat_with(path, about, 0);
}
int lstat(const char *path, struct stat *about) {
  return stat_with(path, about, LINUX_AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat *about) {
  struct linux_stat from;
  return describe(FILE_CALL2(FSTAT, file, &from), &from, about);
}

int isatty(int file) {
  struct stat about;
  return !fstat(file, &about) && S_ISCHR(about.st_mode);
}

int access(const char *path, int mode) { return FILE_CALL3(FACCESSAT, HERE, path, mode); }
int unlink(const char *path) { return FILE_CALL3(UNLINKAT, HERE, path, 0); }
int rmdir(const char *path) { return FILE_CALL3(UNLINKAT, HERE, path, LINUX_AT_REMOVEDIR); }
int remove(const char *path) {
  return unlink(path) && errno == EISDIR ? rmdir(path) : errno == EISDIR ? -1 : 0;
}
int mkdir(const char *path, mode_t mode) { return FILE_CALL3(MKDIRAT, HERE, path, mode); }
int mknod(const char *path, mode_t mode, dev_t device) {
  return FILE_CALL4(MKNODAT, HERE, path, mode, device);
}
int chdir(const char *path) { return FILE_CALL1(CHDIR, path); }
int chmod(const char *path, mode_t mode) { return FILE_CALL3(FCHMODAT, HERE, path, mode); }
int fchmod(int file, mode_t mode) { return FILE_CALL2(FCHMOD, file, mode); }
int fchown(int file, uid_t user, gid_t group) { return FILE_CALL3(FCHOWN, file, user, group); }
int chown(const char *path, uid_t user, gid_t group) {
  return FILE_CALL4(FCHOWNAT, HERE, path, user, group);
}
int lchown(const char *path, uid_t user, gid_t group) {
  return linux_file_call(LINUX_FCHOWNAT, HERE, (int64_t)path, user, group,
                         LINUX_AT_SYMLINK_NOFOLLOW);
}
mode_t umask(mode_t mode) { return FILE_CALL1(UMASK, mode); }
int rename(const char *from, const char *to) {
  return linux_file_call(LINUX_RENAMEAT2, HERE, (int64_t)from, HERE, (int64_t)to, 0);
}
int link(const char *from, const char *to) {
  return linux_file_call(LINUX_LINKAT, HERE, (int64_t)from, HERE, (int64_t)to, 0);
}
int symlink(const char *path, const char *name) { return FILE_CALL3(SYMLINKAT, path, HERE, name); }
ssize_t readlink(const char *restrict path, char *restrict buffer, size_t size) {
  return FILE_CALL4(READLINKAT, HERE, path, buffer, size);
}

int utimes(const char *path, const struct timeval times[2]) {
  int64_t to[4] = {times[0].tv_sec, times[0].tv_usec * 1000, times[1].tv_sec,
                   times[1].tv_usec * 1000};
  return FILE_CALL4(UTIMENSAT, HERE, path, to, 0);
}
int utime(const char *path, const struct utimbuf *times) {
  int64_t to[4] = {times->actime, 0, times->modtime, 0};
  return FILE_CALL4(UTIMENSAT, HERE, path, to, 0);
}

char *getcwd(char *buffer, size_t size) {
  if (!buffer && !(buffer = malloc(size ? size : 1024)))
    return NULL;
  return FILE_CALL2(GETCWD, buffer, size ? size : 1024) < 0 ? NULL : buffer;
}

void *mmap(void *address, size_t size, int rights, int flags, int file, off_t offset) {
  int64_t at = linux_call(LINUX_MMAP, (int64_t)address, size, rights, flags, file, offset);
  if (at >= 0)
    return (void *)at;
  errno = -at;
  return MAP_FAILED;
}
int munmap(void *address, size_t size) { return FILE_CALL2(MUNMAP, address, size); }

struct __card_directory {
  int file;
  size_t at, size;
  struct dirent entry;
  char buffer[4096];
};

DIR *opendir(const char *path) {
  DIR *directory = malloc(sizeof *directory);
  if (!directory)
    return NULL;
  // O_DIRECTORY and O_CLOEXEC.
  directory->file = FILE_CALL4(OPENAT, HERE, path, 0x90000, 0);
  directory->at = directory->size = 0;
  if (directory->file >= 0)
    return directory;
  free(directory);
  return NULL;
}

struct dirent *readdir(DIR *directory) {
  if (directory->at == directory->size) {
    int64_t size =
        FILE_CALL3(GETDENTS64, directory->file, directory->buffer, sizeof directory->buffer);
    if (size <= 0)
      return NULL;
    directory->at = 0;
    directory->size = size;
  }
  // struct linux_dirent64: number and position of 8 bytes, size of 2, kind of 1, and the name.
  const char *from = directory->buffer + directory->at;
  uint16_t size;
  memcpy(&size, from + 16, sizeof size);
  directory->at += size;
  directory->entry.d_type = from[18];
  strcpy(directory->entry.d_name, from + 19);
  return &directory->entry;
}

int closedir(DIR *directory) {
  int result = close(directory->file);
  free(directory);
  return result;
}

int ioctl(int file, unsigned long call, ...) {
  (void)file;
  (void)call;
  errno = ENOTTY;
  return -1;
}

long pathconf(const char *path, int name) {
  (void)path;
  (void)name;
  return -1;
}
