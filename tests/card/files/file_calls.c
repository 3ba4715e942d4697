// Random calls by two sessions, compared with files in the program's memory; what a server refuses;
// and requests that are no requests.
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <flick/files.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 4, OPEN = 6, MOST = 200000, STEPS = 1500, FORGED = 5000 };

// The model.
static char data[NAMES][MOST];
static size_t sizes[NAMES];
static bool is_there[NAMES];

static struct open_file {
  struct flick_file file;
  bool is_used;
  int name, flags;
  size_t position;
} opened[OPEN];

static int wrong;
static uint64_t seed = 88172645463325252ull;

static uint64_t below(uint64_t limit) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (seed >> 16) % limit;
}

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  if (wrong++ < 20)
    printf("%s: %ld in place of %ld (errno %d)\n", what, (long)outcome, (long)wanted, errno);
}

// -1, with this error.
static void fails(int64_t outcome, int error, const char *what) {
  expect(outcome, -1, what);
  expect(errno, error, what);
}

static bool is_open(int name) {
  for (int n = 0; n < OPEN; n++)
    if (opened[n].is_used && opened[n].name == name)
      return true;
  return false;
}

static const char *path_of(int name) {
  static char paths[NAMES][16];
  sprintf(paths[name], "/t/%d", name);
  return paths[name];
}

static void open_one(struct flick_files *files, struct open_file *one) {
  const int ways[] = {O_RDONLY, O_WRONLY, O_RDWR};
  int name = below(NAMES), flags = ways[below(3)] | O_CREAT;
  if (below(4) == 0)
    flags |= O_APPEND;
  // Pieces of others would be of no use any more.
  if (below(4) == 0 && flags & O_ACCMODE && !is_open(name)) {
    flags |= O_TRUNC;
    sizes[name] = 0;
  }
  expect(flick_file_open(&files[below(2)], &one->file, path_of(name), flags), 0, "open");
  if (!is_there[name])
    sizes[name] = 0;
  *one = (struct open_file){.file = one->file, .is_used = true, .name = name, .flags = flags};
  is_there[name] = true;
}

static void commit_all(int name) {
  for (int n = 0; n < OPEN; n++)
    if (opened[n].is_used && opened[n].name == name)
      expect(flick_file_commit(&opened[n].file), 0, "commit");
}

static void read_or_write(struct open_file *one) {
  static char buffer[40000];
  size_t size = below(sizeof buffer), end = sizes[one->name];
  char *own = data[one->name];
  if (below(2)) {
    bool may = (one->flags & O_ACCMODE) != O_WRONLY;
    ssize_t got = flick_file_read(&one->file, buffer, size);
    if (!may)
      return fails(got, EBADF, "a read of a file for writing");
    size_t left = one->position < end ? end - one->position : 0;
    size_t wanted = size < left ? size : left;
    expect(got, wanted, "read");
    expect(memcmp(buffer, own + one->position, wanted), 0, "what is read");
    one->position += wanted;
    return;
  }
  for (size_t n = 0; n < size; n++)
    buffer[n] = below(256);
  if ((one->flags & O_ACCMODE) == O_RDONLY)
    return fails(flick_file_write(&one->file, buffer, size), EBADF, "a write of one for reading");
  if (one->flags & O_APPEND && size)
    one->position = end;
  if (one->position + size > MOST)
    return;
  expect(flick_file_write(&one->file, buffer, size), size, "write");
  if (!size)
    return;
  if (one->position > end)
    memset(own + end, 0, one->position - end);
  memcpy(own + one->position, buffer, size);
  one->position += size;
  if (one->position > end)
    sizes[one->name] = one->position;
}

static void step(struct flick_files *files) {
  struct open_file *one = &opened[below(OPEN)];
  struct flick_file_about about;
  if (!one->is_used)
    return open_one(files, one);
  // Others see what was committed, and one at a time writes behind the end.
  commit_all(one->name);
  switch (below(12)) {
  case 0:
    expect(flick_file_close(&one->file), 0, "close");
    one->is_used = false;
    return;
  case 1: {
    int whence = below(3);
    size_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? one->position : sizes[one->name];
    off_t offset = (off_t)below(60000) - (off_t)(whence == SEEK_SET ? 0 : 30000);
    off_t to = base + offset;
    if (to < 0)
      return fails(flick_file_seek(&one->file, offset, whence), EINVAL, "a seek in front");
    expect(flick_file_seek(&one->file, offset, whence), to, "seek");
    one->position = to;
    return;
  }
  case 2:
    expect(flick_file_size(&one->file), sizes[one->name], "size");
    return;
  case 3:
    if ((one->flags & O_ACCMODE) == O_RDONLY)
      return fails(flick_file_resize(&one->file, 5), EBADF, "resize of one for reading");
    size_t size = below(MOST / 4);
    expect(flick_file_resize(&one->file, size), 0, "resize");
    if (size > sizes[one->name])
      memset(data[one->name] + sizes[one->name], 0, size - sizes[one->name]);
    sizes[one->name] = size;
    return;
  case 4:
    if (is_open(one->name))
      return;
    expect(flick_files_unlink(&files[0], path_of(one->name)), 0, "unlink");
    is_there[one->name] = false;
    return;
  case 5:
    expect(flick_files_about(&files[1], path_of(one->name), &about), 0, "about");
    expect(about.size, sizes[one->name], "the size");
    return;
  default:
    read_or_write(one);
  }
}

static void names(struct flick_files *files) {
  struct flick_file_about about;
  struct flick_file file;
  static char list[FLICK_FILES_PAGE], long_path[2000];
  expect(flick_files_make_directory(files, "/d"), 0, "mkdir");
  fails(flick_files_make_directory(files, "/d"), EEXIST, "a second mkdir");
  expect(flick_files_make_directory(files, "/d/e"), 0, "mkdir");
  fails(flick_files_remove_directory(files, "/d"), ENOTEMPTY, "rmdir of what is used");
  fails(flick_file_open(files, &file, "/d", O_RDONLY), EISDIR, "open of a directory");
  fails(flick_file_open(files, &file, "/none", O_RDONLY), ENOENT, "open of nothing");
  expect(flick_file_open(files, &file, "/d/f", O_WRONLY | O_CREAT | O_EXCL), 0, "open");
  expect(flick_file_close(&file), 0, "close");
  fails(flick_file_close(&file), EBADF, "a second close");
  fails(flick_file_open(files, &file, "/d/f", O_WRONLY | O_CREAT | O_EXCL), EEXIST, "O_EXCL");
  fails(flick_files_make_directory(files, "/d/f/g"), ENOTDIR, "mkdir in a file");
  expect(flick_files_link(files, "/d/f", "/d/g"), 0, "link");
  expect(flick_files_rename(files, "/d/g", "/d/e/h"), 0, "rename");
  expect(flick_files_about(files, "/d/e/../e/./h", &about), 0, "about");
  expect(about.links, 2, "links");
  expect(about.kind, 0, "a file");
  fails(flick_files_rename(files, "/d", "/d/e/i"), EINVAL, "a directory into itself");
  expect(flick_files_list(files, "/d", 0, list), 6, "list");
  expect(memcmp(list, "\1e\0\0f\0", 6), 0, "entries");
  expect(flick_files_list(files, "/d", 1, list), 3, "a second part of a list");
  expect(flick_files_list(files, "/d", 9, list), 0, "behind a list");
  fails(flick_files_list(files, "/d/f", 0, list), ENOTDIR, "list of a file");
  memset(long_path, 'x', sizeof long_path - 1);
  fails(flick_files_unlink(files, long_path), ENAMETOOLONG, "a long path");
  long_path[100] = 0;
  fails(flick_files_make_directory(files, long_path), ENAMETOOLONG, "a long name");
  expect(flick_files_unlink(files, "/d/f"), 0, "unlink");
  fails(flick_files_unlink(files, "/d/e"), EISDIR, "unlink of a directory");
  expect(flick_files_unlink(files, "/d/e/h"), 0, "unlink");
  expect(flick_files_remove_directory(files, "/d/e"), 0, "rmdir");
  expect(flick_files_remove_directory(files, "/d"), 0, "rmdir");
}

// One at a time writes behind the end. A commit lets another one.
static void appends(struct flick_files *files) {
  struct flick_file first, second;
  char got[8] = {0};
  expect(flick_file_open(&files[0], &first, "/log", O_WRONLY | O_CREAT | O_APPEND), 0, "open");
  expect(flick_file_open(&files[1], &second, "/log", O_RDWR | O_APPEND), 0, "open");
  expect(flick_file_write(&first, "one", 3), 3, "write");
  fails(flick_file_write(&second, "two", 3), EEXIST, "a second writer");
  expect(flick_file_size(&second), 0, "the size before a commit");
  expect(flick_file_commit(&first), 0, "commit");
  expect(flick_file_write(&second, "two", 3), 3, "a second writer");
  expect(flick_file_close(&first), 0, "close");
  expect(flick_file_seek(&second, 0, SEEK_SET), 0, "seek");
  expect(flick_file_read(&second, got, sizeof got), 6, "read");
  expect(memcmp(got, "onetwo", 6), 0, "what both have written");
  expect(flick_file_close(&second), 0, "close");
  expect(flick_files_unlink(files, "/log"), 0, "unlink");
}

static void limits(struct flick_files *files) {
  struct flick_file all[17];
  int count = 0;
  while (count < 17 && flick_file_open(files, &all[count], "/x", O_WRONLY | O_CREAT) == 0)
    count++;
  fails(-1, EMFILE, "a file too many");
  expect(count, 16, "open files of a session");
  while (count)
    expect(flick_file_close(&all[--count]), 0, "close");
  // More than the server has.
  static char piece[64 << 10];
  size_t size = 0;
  expect(flick_file_open(files, all, "/x", O_WRONLY), 0, "open");
  while (flick_file_write(all, piece, sizeof piece) == sizeof piece)
    size += sizeof piece;
  expect(errno, ENOSPC, "the last write");
  expect(size > 1 << 20 && size <= 2 << 20, 1, "what there was room for");
  // It leaves some to others.
  struct flick_file other;
  expect(flick_file_open(files + 1, &other, "/y", O_WRONLY | O_CREAT), 0, "open");
  expect(flick_file_write(&other, piece, sizeof piece), sizeof piece, "a write of another one");
  expect(flick_file_close(&other), 0, "close");
  expect(flick_file_close(all), 0, "close");
  expect(flick_files_unlink(files, "/x"), 0, "unlink");
  expect(flick_files_unlink(files + 1, "/y"), 0, "unlink");
}

// A view shows what a piece is, and nothing beside it.
static void rights(struct flick_files *files) {
  struct flick_file file;
  uint64_t word = 0, answer[15], request[3] = {FLICK_FILE_NEXT_IN};
  expect(flick_file_open(files, &file, "/r", O_RDWR | O_CREAT), 0, "open");
  expect(flick_file_write(&file, "12345678", 8), 8, "write");
  expect(flick_file_commit(&file), 0, "commit");
  expect(flick_tile_load(file.data, 0, (uintptr_t)&word, 8), -FLICK_EINVAL, "behind a commit");
  expect(flick_file_seek(&file, 0, SEEK_SET), 0, "seek");
  expect(flick_file_read(&file, &word, 4), 4, "read");
  expect(flick_tile_load(file.data, 0, (uintptr_t)&word, 8), 0, "a load of the piece");
  expect(flick_tile_load(file.data, 0, (uintptr_t)&word, 9), -FLICK_EINVAL, "a load behind it");
  expect(flick_tile_store(file.data, 0, (uintptr_t)&word, 8), -FLICK_EPERM, "a store to it");
  expect(flick_gate_call(file.requests, (uintptr_t)request, 16, (uintptr_t)answer, FLICK_FOR_EVER),
         24, "a short request");
  expect(answer[0], FLICK_ENOSYS, "its answer");
  struct flick_file other = file;
  other.files = &files[1];
  fails(flick_file_close(&other), EBADF, "a close of another's file");
  expect(flick_file_close(&file), 0, "close");
  expect(flick_gate_call(file.requests, (uintptr_t)request, 24, (uintptr_t)answer, FLICK_FOR_EVER),
         -FLICK_ENOENT, "a request of a closed file");
  expect(flick_files_unlink(files, "/r"), 0, "unlink");
}

// Words that no library sends. The server goes on.
static void forged(struct flick_files *files) {
  struct flick_file file;
  uint64_t words[15], answer[15];
  expect(flick_file_open(&files[1], &file, "/forged", O_RDWR | O_CREAT), 0, "open");
  for (int n = 0; n < FORGED; n++) {
    bool is_file = below(2);
    for (int word = 0; word < 15; word++)
      words[word] = below(3) ? below(40) : below(UINT64_MAX) << below(64);
    // Not its end, which would be right.
    words[0] = is_file ? below(9) : below(4) ? 16 + below(16) : words[0];
    if (!is_file && words[0] == FLICK_FILES_CLOSE)
      words[1] |= 64;
    // In the page, and in messages that are long enough. Other names would stay, and take blocks.
    flick_tile_store(files[1].page, 0, (uintptr_t)"/f/../forged\0/", 16);
    memcpy(words + 3, "/f/../forged\0/", 16);
    expect(flick_gate_call(is_file ? file.requests : files[1].session, (uintptr_t)words,
                           8 * (is_file ? 3 : 2 + below(14)), (uintptr_t)answer,
                           FLICK_FOR_EVER) >= 8,
           1, "an answer");
  }
  expect(flick_files_disconnect(&files[1]), 0, "disconnect");
  expect(flick_files_connect(&files[1], "files", FLICK_FOR_EVER), 0, "connect");
}

int main(void) {
  struct flick_files files[2];
  struct flick_file_about about;
  struct flick_file file;
  char text[16] = {0};
  for (int n = 0; n < 2; n++)
    expect(flick_files_connect(&files[n], "files", FLICK_FOR_EVER), 0, "connect");
  // What the archive had.
  expect(flick_file_open(&files[0], &file, "in/hello", O_RDONLY), 0, "open of a first file");
  expect(flick_file_read(&file, text, sizeof text), 6, "read of a first file");
  expect(memcmp(text, "hello\n", 6), 0, "what it has");
  expect(flick_file_close(&file), 0, "close");
  expect(flick_files_about(&files[0], "/in/link", &about), 0, "a link of the archive");
  expect(about.links, 2, "its links");
  names(files);
  appends(files);
  limits(files);
  rights(files);
  expect(flick_files_make_directory(files, "/t"), 0, "mkdir");
  for (int n = 0; n < STEPS && wrong < 20; n++)
    step(files);
  for (int n = 0; n < OPEN; n++)
    if (opened[n].is_used)
      expect(flick_file_close(&opened[n].file), 0, "close");
  forged(files);
  limits(files);
  for (int n = 0; n < 2; n++)
    expect(flick_files_disconnect(&files[n]), 0, "disconnect");
  fails(flick_files_about(&files[0], "/", &about), EOWNERDEAD, "a session that is over");
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}
