// Files: those of the machine's archive, and those that the program makes, in its own memory. A
// file of the archive is copied when it is opened for stores, and lives as long as the program.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/lock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "console.h"

// A file or directory. It stays when it has no name any more, until it is not open.
struct node {
  struct node *next;
  // Without a slash at either end.
  char *name;
  char *data;
  size_t size;
  // Bytes behind `data`; 0: it is the archive's.
  size_t capacity;
  uint32_t users;
  bool is_directory, is_unlinked;
};

struct open_file {
  struct node *node;
  off_t position;
  int flags;
};

#define FIRST_FILE 3
#define MOST_FILES 64

static struct node *nodes;
static struct open_file open_files[MOST_FILES];

static int fail(int error) {
  errno = error;
  return -1;
}

static struct node *add_node(const char *name, size_t length) {
  struct node *node = calloc(1, sizeof *node);
  if (!node || !(node->name = strndup(name, length))) {
    free(node);
    errno = ENOMEM;
    return NULL;
  }
  node->next = nodes;
  nodes = node;
  return node;
}

static const char *clean(const char *name) {
  while (*name == '/' || (name[0] == '.' && (name[1] == '/' || name[1] == 0)))
    name++;
  return name;
}

static size_t clean_length(const char *name) {
  size_t length = strlen(name);
  while (length && name[length - 1] == '/')
    length--;
  return length;
}

static void add_of_archive(const char *name, bool is_directory, char *data, size_t size) {
  name = clean(name);
  struct node *node = *name ? add_node(name, clean_length(name)) : NULL;
  if (!node)
    return;
  node->is_directory = is_directory;
  node->data = data;
  node->size = size;
}

static struct node *find(const char *path) {
  static bool is_read;
  if (!is_read) {
    is_read = true;
    __card_read_archive(add_of_archive);
  }
  path = clean(path);
  size_t length = clean_length(path);
  for (struct node *node = nodes; node; node = node->next)
    if (strncmp(node->name, path, length) == 0 && node->name[length] == 0)
      return node;
  return NULL;
}

// The part of a node's name behind a directory and a slash, or NULL.
static const char *name_in(const struct node *node, const char *directory) {
  size_t length = clean_length(directory);
  if (length == 0)
    return node->name;
  if (strncmp(node->name, directory, length) || node->name[length] != '/')
    return NULL;
  return node->name + length + 1;
}

// Archives have files of directories that they do not name.
static bool is_directory(const char *path) {
  struct node *node = find(path);
  if (node)
    return node->is_directory;
  path = clean(path);
  if (!*path)
    return true;
  for (node = nodes; node; node = node->next)
    if (name_in(node, path))
      return true;
  return false;
}

static bool parent_exists(const char *path) {
  path = clean(path);
  char *parent = strndup(path, clean_length(path));
  if (!parent)
    return false;
  char *slash = strrchr(parent, '/');
  if (slash)
    *slash = 0;
  bool exists = !slash || is_directory(parent);
  free(parent);
  return exists;
}

static int grow(struct node *node, size_t capacity) {
  if (node->capacity >= capacity)
    return 0;
  if (capacity < 2 * node->capacity)
    capacity = 2 * node->capacity;
  char *data = realloc(node->capacity ? node->data : NULL, capacity);
  if (!data)
    return fail(ENOSPC);
  if (!node->capacity && node->size)
    memcpy(data, node->data, node->size);
  node->data = data;
  node->capacity = capacity;
  return 0;
}

static int resize(struct node *node, size_t size) {
  if (size && grow(node, size))
    return -1;
  if (size > node->size)
    memset(node->data + node->size, 0, size - node->size);
  node->size = size;
  return 0;
}

static void release(struct node *node) {
  if (--node->users || !node->is_unlinked)
    return;
  if (node->capacity)
    free(node->data);
  free(node->name);
  free(node);
}

static bool may_write(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

static int open_locked(const char *path, int flags) {
  struct node *node = find(path);
  if (!node && is_directory(path))
    return fail(EISDIR);
  if (node && node->is_directory)
    return fail(EISDIR);
  if (node && (flags & O_CREAT) && (flags & O_EXCL))
    return fail(EEXIST);
  if (!node && (!(flags & O_CREAT) || !parent_exists(path)))
    return fail(ENOENT);
  int number = FIRST_FILE;
  while (number < MOST_FILES && open_files[number].node)
    number++;
  if (number == MOST_FILES)
    return fail(EMFILE);
  if (!node) {
    const char *name = clean(path);
    node = add_node(name, clean_length(name));
    if (!node)
      return -1;
  } else if ((flags & O_TRUNC) && may_write(flags)) {
    resize(node, 0);
  }
  node->users++;
  open_files[number] = (struct open_file){.node = node, .flags = flags};
  return number;
}

// The library's lock is for a moment only: no call here waits for anything.
#define LOCKED(type, expression)                                                                   \
  ({                                                                                               \
    __LIBC_LOCK();                                                                                 \
    type locked_result = (expression);                                                             \
    __LIBC_UNLOCK();                                                                               \
    locked_result;                                                                                 \
  })

int open(const char *path, int flags, ...) { return LOCKED(int, open_locked(path, flags)); }

static struct open_file *file_of(int number) {
  if (number >= FIRST_FILE && number < MOST_FILES && open_files[number].node)
    return &open_files[number];
  errno = EBADF;
  return NULL;
}

static int close_locked(int number) {
  struct open_file *file = file_of(number);
  if (!file)
    return -1;
  release(file->node);
  file->node = NULL;
  return 0;
}

int close(int number) {
  if (number >= 0 && number < FIRST_FILE)
    return 0;
  return LOCKED(int, close_locked(number));
}

static ssize_t read_locked(int number, void *buffer, size_t size) {
  struct open_file *file = file_of(number);
  if (!file)
    return -1;
  if ((file->flags & O_ACCMODE) == O_WRONLY)
    return fail(EBADF);
  size_t position = file->position;
  size_t left = position < file->node->size ? file->node->size - position : 0;
  if (size > left)
    size = left;
  memcpy(buffer, file->node->data + position, size);
  file->position += size;
  return size;
}

static ssize_t write_locked(int number, const void *buffer, size_t size) {
  struct open_file *file = file_of(number);
  if (!file)
    return -1;
  if (!may_write(file->flags))
    return fail(EBADF);
  struct node *node = file->node;
  if (file->flags & O_APPEND)
    file->position = node->size;
  size_t end;
  if (__builtin_add_overflow((size_t)file->position, size, &end))
    return fail(EFBIG);
  if (end > node->size ? resize(node, end) : grow(node, node->size))
    return -1;
  memcpy(node->data + file->position, buffer, size);
  file->position = end;
  return size;
}

ssize_t read(int number, void *buffer, size_t size) {
  if (number == STDIN_FILENO)
    return __card_console_read(buffer, size);
  return LOCKED(ssize_t, read_locked(number, buffer, size));
}

ssize_t write(int number, const void *buffer, size_t size) {
  if (number == STDOUT_FILENO || number == STDERR_FILENO)
    return __card_console_write(buffer, size);
  return LOCKED(ssize_t, write_locked(number, buffer, size));
}

static off_t seek_locked(int number, off_t offset, int whence) {
  struct open_file *file = file_of(number);
  if (!file)
    return -1;
  off_t base = whence == SEEK_SET   ? 0
               : whence == SEEK_CUR ? file->position
                                    : (off_t)file->node->size;
  off_t position;
  if (whence < SEEK_SET || whence > SEEK_END || __builtin_add_overflow(base, offset, &position) ||
      position < 0)
    return fail(EINVAL);
  return file->position = position;
}

off_t lseek(int number, off_t offset, int whence) {
  if (number >= 0 && number < FIRST_FILE)
    return fail(ESPIPE);
  return LOCKED(off_t, seek_locked(number, offset, whence));
}

// Reads or writes elsewhere, and the position stays.
static ssize_t at_position(int number, void *buffer, size_t size, off_t offset, bool is_write) {
  struct open_file *file = file_of(number);
  if (!file)
    return -1;
  if (offset < 0)
    return fail(EINVAL);
  off_t before = file->position;
  file->position = offset;
  ssize_t done = is_write ? write_locked(number, buffer, size) : read_locked(number, buffer, size);
  file->position = before;
  return done;
}

ssize_t pread(int number, void *buffer, size_t size, off_t offset) {
  return LOCKED(ssize_t, at_position(number, buffer, size, offset, false));
}

ssize_t pwrite(int number, const void *buffer, size_t size, off_t offset) {
  return LOCKED(ssize_t, at_position(number, (void *)buffer, size, offset, true));
}

static int truncate_locked(int number, off_t size) {
  struct open_file *file = file_of(number);
  if (!file)
    return -1;
  if (!may_write(file->flags) || size < 0)
    return fail(EINVAL);
  return resize(file->node, size);
}

int ftruncate(int number, off_t size) { return LOCKED(int, truncate_locked(number, size)); }

static int describe(const struct node *node, struct stat *about) {
  bool is_file = node && !node->is_directory;
  *about = (struct stat){
      .st_mode = is_file ? S_IFREG | 0644 : S_IFDIR | 0755,
      .st_nlink = 1,
      .st_size = is_file ? node->size : 0,
      .st_blksize = 4096,
  };
  return 0;
}

static int fstat_locked(int number, struct stat *about) {
  struct open_file *file = file_of(number);
  return file ? describe(file->node, about) : -1;
}

int fstat(int number, struct stat *about) {
  if (number >= 0 && number < FIRST_FILE) {
    *about = (struct stat){.st_mode = S_IFCHR | 0600, .st_nlink = 1};
    return 0;
  }
  return LOCKED(int, fstat_locked(number, about));
}

static int stat_locked(const char *path, struct stat *about) {
  struct node *node = find(path);
  if (!node && !is_directory(path))
    return fail(ENOENT);
  return describe(node, about);
}

int stat(const char *restrict path, struct stat *restrict about) {
  return LOCKED(int, stat_locked(path, about));
}

int lstat(const char *path, struct stat *about) { return stat(path, about); }

int access(const char *path, int mode) {
  (void)mode;
  struct stat about;
  return stat(path, &about);
}

int isatty(int number) {
  if (number >= 0 && number < FIRST_FILE)
    return 1;
  errno = LOCKED(struct open_file *, file_of(number)) ? ENOTTY : EBADF;
  return 0;
}

static int remove_node(const char *path, bool wants_directory) {
  struct node *node = find(path);
  if (!node)
    return fail(is_directory(path) ? EISDIR : ENOENT);
  if (node->is_directory != wants_directory)
    return fail(wants_directory ? ENOTDIR : EISDIR);
  for (struct node *other = nodes; wants_directory && other; other = other->next)
    if (name_in(other, node->name))
      return fail(ENOTEMPTY);
  struct node **at = &nodes;
  while (*at != node)
    at = &(*at)->next;
  *at = node->next;
  node->is_unlinked = true;
  node->users++;
  release(node);
  return 0;
}

int unlink(const char *path) { return LOCKED(int, remove_node(path, false)); }
int rmdir(const char *path) { return LOCKED(int, remove_node(path, true)); }

static int make_directory(const char *path) {
  if (find(path) || is_directory(path))
    return fail(EEXIST);
  if (!parent_exists(path))
    return fail(ENOENT);
  const char *name = clean(path);
  struct node *node = add_node(name, clean_length(name));
  if (!node)
    return -1;
  node->is_directory = true;
  return 0;
}

int mkdir(const char *path, mode_t mode) {
  (void)mode;
  return LOCKED(int, make_directory(path));
}

static int rename_locked(const char *from, const char *to) {
  struct node *node = find(from);
  if (!node || !parent_exists(to))
    return fail(ENOENT);
  // Names of what is in a directory would have to change, too.
  if (node->is_directory || is_directory(to))
    return fail(EISDIR);
  if (find(to) == node)
    return 0;
  const char *name = clean(to);
  char *copy = strndup(name, clean_length(name));
  if (!copy)
    return fail(ENOMEM);
  if (find(to))
    remove_node(to, false);
  free(node->name);
  node->name = copy;
  return 0;
}

int rename(const char *from, const char *to) { return LOCKED(int, rename_locked(from, to)); }

char *getcwd(char *buffer, size_t size) {
  if (!buffer && !(buffer = malloc(size ? size : 2)))
    return NULL;
  if (size == 1) {
    errno = ERANGE;
    return NULL;
  }
  return strcpy(buffer, "/");
}

// The names in a directory when it was opened.
struct __card_directory {
  size_t count, next;
  struct dirent *entries;
};

static bool add_entry(DIR *directory, const struct node *node, const char *name) {
  size_t length = strcspn(name, "/");
  if (length > MAXNAMLEN)
    return true;
  for (size_t n = 0; n < directory->count; n++)
    if (strncmp(directory->entries[n].d_name, name, length) == 0 &&
        directory->entries[n].d_name[length] == 0)
      return true;
  struct dirent *grown = realloc(directory->entries, (directory->count + 1) * sizeof *grown);
  if (!grown)
    return false;
  directory->entries = grown;
  struct dirent *entry = &grown[directory->count++];
  *entry = (struct dirent){.d_type = name[length] || node->is_directory ? DT_DIR : DT_REG};
  memcpy(entry->d_name, name, length);
  return true;
}

static DIR *open_directory(const char *path) {
  if (!is_directory(path)) {
    errno = find(path) ? ENOTDIR : ENOENT;
    return NULL;
  }
  DIR *directory = calloc(1, sizeof *directory);
  for (struct node *node = nodes; directory && node; node = node->next) {
    const char *name = name_in(node, clean(path));
    if (name && !add_entry(directory, node, name)) {
      closedir(directory);
      directory = NULL;
    }
  }
  return directory;
}

DIR *opendir(const char *path) { return LOCKED(DIR *, open_directory(path)); }

struct dirent *readdir(DIR *directory) {
  if (directory->next == directory->count)
    return NULL;
  return &directory->entries[directory->next++];
}

void rewinddir(DIR *directory) { directory->next = 0; }

int closedir(DIR *directory) {
  free(directory->entries);
  free(directory);
  return 0;
}
