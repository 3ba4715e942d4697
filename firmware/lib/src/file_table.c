#include "file_table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool may_write(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }
static bool may_read(int flags) { return (flags & O_ACCMODE) != O_WRONLY; }

static struct file_description *file_of(struct file_table *table, uint64_t number) {
  return number < MOST_FILES ? table->open[number] : NULL;
}

static int free_number(const struct file_table *table) {
  for (int number = 0; number < MOST_FILES; number++)
    if (!table->open[number])
      return number;
  return -EMFILE;
}

static void put(struct file_table *table, int number, struct file_description *file, int flags) {
  table->open[number] = file;
  table->close_on_exec &= ~(1ul << number);
  if (flags & O_CLOEXEC)
    table->close_on_exec |= 1ul << number;
}

struct file_description *__card_share_file(struct file_description *file) {
  if (file)
    file->users++;
  return file;
}

static void release_pipe(struct file_description *file) {
  struct file_pipe *pipe = file->pipe;
  if (may_write(file->flags))
    pipe->writers--;
  else
    pipe->readers--;
  if (!pipe->readers && !pipe->writers)
    free(pipe);
}

static void release(struct file_description *file) {
  if (--file->users)
    return;
  if (file->kind == FILE_OF_NODE)
    __card_release_file(file->node);
  if (file->kind == FILE_OF_PIPE)
    release_pipe(file);
  free(file);
}

void __card_close_file(struct file_table *table, unsigned number) {
  struct file_description *file = table->open[number];
  table->open[number] = NULL;
  if (file)
    release(file);
}

// It is for fstat and fsync alone.
static int64_t open_directory(struct file_table *table, int flags) {
  int number = free_number(table);
  if (number < 0)
    return number;
  struct file_description *file = calloc(1, sizeof *file);
  if (!file)
    return -ENOMEM;
  *file = (struct file_description){.kind = FILE_OF_DIRECTORY, .flags = flags, .users = 1};
  put(table, number, file, flags);
  return number;
}

static int64_t open_path(struct file_table *table, const char *path, int flags) {
  struct file_node *node = __card_find_file(path);
  if (__card_is_directory(path))
    return flags & (O_ACCMODE | O_CREAT | O_TRUNC) ? -EISDIR : open_directory(table, flags);
  if (node && (flags & O_CREAT) && (flags & O_EXCL))
    return -EEXIST;
  if (!node && !(flags & O_CREAT))
    return -ENOENT;
  int number = free_number(table), error = 0;
  if (number < 0)
    return number;
  struct file_description *file = calloc(1, sizeof *file);
  if (!file)
    return -ENOMEM;
  if (!node)
    node = __card_make_file(path, false, &error);
  else if ((flags & O_TRUNC) && may_write(flags))
    __card_resize_file(node, 0);
  if (!node) {
    free(file);
    return error;
  }
  node->users++;
  *file = (struct file_description){.kind = FILE_OF_NODE, .flags = flags, .users = 1, .node = node};
  put(table, number, file, flags);
  return number;
}

static int64_t read_node(struct file_description *file, char *out, size_t size, off_t position) {
  struct file_node *node = file->node;
  size_t left = (size_t)position < node->size ? node->size - position : 0;
  if (size > left)
    size = left;
  memcpy(out, node->data + position, size);
  return size;
}

static int64_t write_node(struct file_description *file, const char *in, size_t size,
                          off_t position) {
  struct file_node *node = file->node;
  size_t end;
  if (__builtin_add_overflow((size_t)position, size, &end) || end > LONG_MAX)
    return -EFBIG;
  int error = end > node->size ? __card_resize_file(node, end) : __card_grow_file(node, node->size);
  if (error)
    return error;
  memcpy(node->data + position, in, size);
  return size;
}

bool __card_file_waits(const struct file_description *file, bool writes, size_t size) {
  const struct file_pipe *pipe = file->pipe;
  if (!pipe)
    return false;
  if (!writes)
    return !pipe->count && pipe->writers;
  // A small write is in one piece.
  size_t wanted = size < sizeof pipe->bytes ? size : sizeof pipe->bytes;
  return file->kind == FILE_OF_PIPE && pipe->readers && sizeof pipe->bytes - pipe->count < wanted;
}

int64_t __card_file_ready(const struct file_description *file) {
  const struct file_pipe *pipe = file->pipe;
  bool reads = may_read(file->flags) && !__card_file_waits(file, false, 0);
  bool writes = may_write(file->flags) && !__card_file_waits(file, true, 1);
  bool is_gone = file->kind == FILE_OF_PIPE && !(reads ? pipe->writers : pipe->readers);
  return (reads ? FLICK_FILES_READY_READ : 0) | (writes ? FLICK_FILES_READY_WRITE : 0) |
         (is_gone ? FLICK_FILES_READY_GONE : 0);
}

size_t __card_fill_pipe(struct file_pipe *pipe, const char *bytes, size_t size) {
  size_t done = 0;
  for (; done < size && pipe->count < sizeof pipe->bytes; done++)
    pipe->bytes[(pipe->first + pipe->count++) % sizeof pipe->bytes] = bytes[done];
  return done;
}

static int64_t read_pipe(struct file_description *file, char *out, size_t size) {
  struct file_pipe *pipe = file->pipe;
  if (__card_file_waits(file, false, 0))
    return -EAGAIN;
  size_t done = 0;
  for (; done < size && pipe->count; done++, pipe->count--) {
    out[done] = pipe->bytes[pipe->first];
    pipe->first = (pipe->first + 1) % sizeof pipe->bytes;
  }
  return done;
}

static int64_t write_pipe(struct file_description *file, const char *in, size_t size) {
  if (!file->pipe->readers)
    return -EPIPE;
  if (__card_file_waits(file, true, size))
    return -EAGAIN;
  return __card_fill_pipe(file->pipe, in, size);
}

static int64_t read_file(struct file_description *file, char *out, size_t size) {
  if (!may_read(file->flags))
    return -EBADF;
  if (file->pipe)
    return read_pipe(file, out, size);
  if (file->kind == FILE_OF_DIRECTORY)
    return -EISDIR;
  if (file->kind != FILE_OF_NODE)
    return 0;
  int64_t done = read_node(file, out, size, file->position);
  file->position += done;
  return done;
}

static int64_t write_file(struct file_description *file, const char *in, size_t size) {
  if (!may_write(file->flags))
    return -EBADF;
  switch (file->kind) {
  case FILE_OF_NOTHING:
    return size;
  case FILE_OF_DIRECTORY:
    return -EBADF;
  case FILE_OF_PIPE:
    return write_pipe(file, in, size);
  case FILE_OF_CONSOLE: {
    int64_t written = flick_console_write((uintptr_t)in, size);
    return written < 0 ? -flick_errno(written) : written;
  }
  case FILE_OF_NODE:
    break;
  }
  if (file->flags & O_APPEND)
    file->position = file->node->size;
  int64_t done = write_node(file, in, size, file->position);
  if (done > 0)
    file->position += done;
  return done;
}

// Reads or writes elsewhere, and the position stays.
static int64_t at_position(struct file_description *file, bool writes, const char *in, char *out,
                           size_t size, off_t position) {
  if (file->kind != FILE_OF_NODE)
    return file->kind == FILE_OF_DIRECTORY ? -EISDIR : -ESPIPE;
  if (position < 0)
    return -EINVAL;
  if (writes ? !may_write(file->flags) : !may_read(file->flags))
    return -EBADF;
  if (!writes)
    return read_node(file, out, size, position);
  return write_node(file, in, size, file->flags & O_APPEND ? (off_t)file->node->size : position);
}

static int64_t seek(struct file_description *file, off_t offset, int whence) {
  if (file->kind != FILE_OF_NODE)
    return -ESPIPE;
  off_t base = whence == SEEK_SET   ? 0
               : whence == SEEK_CUR ? file->position
                                    : (off_t)file->node->size;
  off_t position;
  if (whence < SEEK_SET || whence > SEEK_END || __builtin_add_overflow(base, offset, &position) ||
      position < 0)
    return -EINVAL;
  return file->position = position;
}

static int64_t resize(struct file_description *file, off_t size) {
  if (file->kind != FILE_OF_NODE || !may_write(file->flags) || size < 0)
    return -EINVAL;
  return __card_resize_file(file->node, size);
}

static int64_t about_node(const struct file_node *node, char *out) {
  bool is_file = node && !node->is_directory;
  struct card_file_about about = {.mode = is_file ? S_IFREG | 0644 : S_IFDIR | 0755,
                                  .size = is_file ? node->size : 0};
  memcpy(out, &about, sizeof about);
  return 0;
}

static int64_t about_open(const struct file_description *file, char *out) {
  if (file->kind == FILE_OF_NODE || file->kind == FILE_OF_DIRECTORY)
    return about_node(file->node, out);
  struct card_file_about about = {.mode =
                                      file->kind == FILE_OF_PIPE ? S_IFIFO | 0600 : S_IFCHR | 0600};
  memcpy(out, &about, sizeof about);
  return 0;
}

static int64_t about_path(const char *path, char *out) {
  struct file_node *node = __card_find_file(path);
  return node || __card_is_directory(path) ? about_node(node, out) : -ENOENT;
}

static int64_t make_directory(const char *path) {
  int error = 0;
  if (__card_find_file(path) || __card_is_directory(path))
    return -EEXIST;
  __card_make_file(path, true, &error);
  return error;
}

// `to` is negative: any free number.
static int64_t duplicate(struct file_table *table, uint64_t from, int64_t to) {
  struct file_description *file = file_of(table, from);
  if (!file || to >= MOST_FILES)
    return -EBADF;
  if (to == (int64_t)from)
    return to;
  if (to < 0 && (to = free_number(table)) < 0)
    return to;
  __card_close_file(table, to);
  put(table, to, __card_share_file(file), 0);
  return to;
}

static int64_t flags(struct file_table *table, uint64_t number, int command, int value) {
  struct file_description *file = table->open[number];
  const int kept = O_APPEND | O_NONBLOCK;
  switch (command) {
  case F_GETFD:
    return table->close_on_exec >> number & 1 ? FD_CLOEXEC : 0;
  case F_SETFD:
    put(table, number, file, value & FD_CLOEXEC ? O_CLOEXEC : 0);
    return 0;
  case F_GETFL:
    return file->flags & (O_ACCMODE | kept);
  case F_SETFL:
    file->flags = (file->flags & ~kept) | (value & kept);
    return 0;
  }
  return -EINVAL;
}

static struct file_description *end_of_pipe(struct file_pipe *pipe, int flags) {
  struct file_description *file = calloc(1, sizeof *file);
  if (file)
    *file =
        (struct file_description){.kind = FILE_OF_PIPE, .flags = flags, .users = 1, .pipe = pipe};
  return file;
}

// The end to read is in the lower half of the result.
static int64_t make_pipe(struct file_table *table, int flags) {
  struct file_pipe *pipe = calloc(1, sizeof *pipe);
  flags &= O_CLOEXEC | O_NONBLOCK;
  struct file_description *in = pipe ? end_of_pipe(pipe, O_RDONLY | flags) : NULL;
  struct file_description *out = in ? end_of_pipe(pipe, O_WRONLY | flags) : NULL;
  int64_t from = out ? free_number(table) : -ENOMEM, to = from;
  if (from >= 0) {
    put(table, from, in, flags);
    to = free_number(table);
    if (to < 0)
      table->open[from] = NULL;
  }
  if (to < 0) {
    free(out);
    free(in);
    free(pipe);
    return to;
  }
  put(table, to, out, flags);
  pipe->readers = pipe->writers = 1;
  return to << 32 | from;
}

// What concerns a number that is open.
static int64_t execute_open(struct file_table *table, uint32_t operation, const uint64_t *arguments,
                            const char *in, char *out) {
  uint64_t number = arguments[0];
  struct file_description *file = file_of(table, number);
  if (!file)
    return -EBADF;
  switch (operation) {
  case FILE_CLOSE:
    __card_close_file(table, number);
    return 0;
  case FILE_READ:
    return read_file(file, out, arguments[1]);
  case FILE_WRITE:
    return write_file(file, in, arguments[1]);
  case FILE_READ_AT:
  case FILE_WRITE_AT:
    return at_position(file, operation == FILE_WRITE_AT, in, out, arguments[1], arguments[2]);
  case FILE_SEEK:
    return seek(file, arguments[1], arguments[2]);
  case FILE_RESIZE:
    return resize(file, arguments[1]);
  case FILE_ABOUT_OPEN:
    return about_open(file, out);
  case FILE_READY:
    return __card_file_ready(file);
  case FILE_DUPLICATE:
    return duplicate(table, number, arguments[1]);
  case FILE_FLAGS:
    return flags(table, number, arguments[1], arguments[2]);
  }
  return -ENOSYS;
}

int64_t __card_file_execute(struct file_table *table, uint32_t operation, const uint64_t *arguments,
                            const char *in, char *out) {
  switch (operation) {
  case FILE_OPEN:
    return open_path(table, in, arguments[0]);
  case FILE_ABOUT:
    return about_path(in, out);
  case FILE_REMOVE:
  case FILE_REMOVE_DIRECTORY:
    return __card_remove_file(in, operation == FILE_REMOVE_DIRECTORY);
  case FILE_MAKE_DIRECTORY:
    return make_directory(in);
  case FILE_RENAME:
    return __card_rename_file(in, in + strlen(in) + 1);
  case FILE_LIST:
    return __card_list_files(in, arguments[0], out, arguments[1]);
  case FILE_PIPE:
    return make_pipe(table, arguments[0]);
  }
  return execute_open(table, operation, arguments, in, out);
}
