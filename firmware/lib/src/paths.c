// The calls of POSIX for names of files: those of the machine's archive, and those that programs
// make.
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_table.h"
#include "files.h"
#include "server_call.h"

// A program with names of files is linked with what executes them.
int64_t (*const __card_execute_files)(struct file_table *, uint32_t, const uint64_t *, const char *,
                                      char *) = __card_file_execute;

// And with files of servers.
int64_t (*const __card_execute_server_files)(uint32_t, const uint64_t *,
                                             struct file_bytes) = __card_server_path;

// 0 if the name is one. `full` is for one in the current folder.
static int path_bytes(const char *path, char *full, struct file_bytes *bytes) {
  bytes->in = __card_full_path(path, full, &bytes->in_size);
  return bytes->in ? 0 : -ENAMETOOLONG;
}

static int64_t path_call(uint32_t operation, const char *path, uint64_t flags, void *out,
                         uint64_t out_size) {
  struct file_bytes bytes = {.out = out, .out_size = out_size};
  char full[PATH_SIZE];
  int error = path_bytes(path, full, &bytes);
  return card_result(error ? error : CALL(operation, bytes, flags));
}

int open(const char *path, int flags, ...) {
  int number = path_call(FILE_OPEN, path, flags, NULL, 0);
  if (number >= 0)
    __card_note_file(number, -1);
  return number;
}

int stat(const char *restrict path, struct stat *restrict about) {
  struct card_file_about from;
  int result = path_call(FILE_ABOUT, path, 0, &from, sizeof from);
  return result ? result : __card_describe_file(&from, about);
}

// There are no links by name.
int lstat(const char *path, struct stat *about) { return stat(path, about); }

int access(const char *path, int mode) {
  (void)mode;
  struct stat about;
  return stat(path, &about);
}

int chdir(const char *path) {
  struct stat about;
  if (!*path)
    return card_result(-ENOENT);
  if (stat(path, &about))
    return -1;
  return card_result(S_ISDIR(about.st_mode) ? __card_enter_folder(path) : -ENOTDIR);
}

int unlink(const char *path) { return path_call(FILE_REMOVE, path, 0, NULL, 0); }
int rmdir(const char *path) { return path_call(FILE_REMOVE_DIRECTORY, path, 0, NULL, 0); }

int mkdir(const char *path, mode_t mode) {
  (void)mode;
  return path_call(FILE_MAKE_DIRECTORY, path, 0, NULL, 0);
}

static int two_paths_call(uint32_t operation, const char *from, const char *to) {
  char full[2][PATH_SIZE];
  size_t first, second;
  from = __card_full_path(from, full[0], &first);
  to = __card_full_path(to, full[1], &second);
  if (!from || !to)
    return card_result(-ENAMETOOLONG);
  char both[2 * PATH_SIZE];
  memcpy(both, from, first);
  memcpy(both + first, to, second);
  struct file_bytes bytes = {.in = both, .in_size = first + second};
  // Neither of them is a file of a server, or both.
  if (__card_is_server_path(from) != __card_is_server_path(to))
    return card_result(-EXDEV);
  return card_result(CALL(operation, bytes, 0));
}

int rename(const char *from, const char *to) { return two_paths_call(FILE_RENAME, from, to); }
// Files of servers alone have several names.
int link(const char *from, const char *to) { return two_paths_call(FILE_LINK, from, to); }

int dup(int number) { return dup2(number, -1); }

int dup2(int number, int same) {
  // A number that is not open leaves the other one as it is.
  if (fcntl(number, F_GETFD) < 0)
    return -1;
  if (same == number)
    return number;
  // What was there is closed, the file behind it, too.
  if (same != number && same >= 0 && same < MOST_FILES && __card_is_server_number(same))
    close(same);
  int64_t made = CALL(FILE_DUPLICATE, NO_BYTES, number, (int64_t)same);
  if (made >= 0 && made != number)
    __card_note_file(made, __card_is_server_number(number) ? -1 : number);
  return card_result(made);
}

// The names in a directory when it was opened, as FILE_LIST writes them.
struct __card_directory {
  char *list;
  size_t size, next;
  struct dirent entry;
};

// Adds what FILE_LIST has written.
static bool add_entries(DIR *directory, const char *from, size_t size) {
  char *grown = realloc(directory->list, directory->size + size);
  if (!grown)
    return false;
  directory->list = grown;
  memcpy(grown + directory->size, from, size);
  directory->size += size;
  return true;
}

static int64_t fill_directory(DIR *directory, const char *path) {
  char list[FLICK_PAGE];
  struct file_bytes bytes = {.out = list, .out_size = SIZE_OF_RESULT};
  char full[PATH_SIZE];
  int64_t size = path_bytes(path, full, &bytes);
  uint64_t first = 0;
  while (size == 0 && (size = CALL(FILE_LIST, bytes, first, sizeof list)) > 0) {
    if (!add_entries(directory, list, size))
      return -ENOMEM;
    for (int64_t n = 0; n < size; n += strlen(list + n + 1) + 2)
      first++;
    size = 0;
  }
  return size;
}

DIR *opendir(const char *path) {
  DIR *directory = calloc(1, sizeof *directory);
  int64_t result = directory ? fill_directory(directory, path) : -ENOMEM;
  if (result == 0)
    return directory;
  if (directory)
    closedir(directory);
  errno = -result;
  return NULL;
}

struct dirent *readdir(DIR *directory) {
  while (directory->next < directory->size) {
    const char *from = directory->list + directory->next;
    size_t length = strlen(from + 1);
    directory->next += length + 2;
    if (length > MAXNAMLEN)
      continue;
    directory->entry.d_type = *from ? DT_DIR : DT_REG;
    memcpy(directory->entry.d_name, from + 1, length + 1);
    return &directory->entry;
  }
  return NULL;
}

void rewinddir(DIR *directory) { directory->next = 0; }

int closedir(DIR *directory) {
  free(directory->list);
  free(directory);
  return 0;
}
