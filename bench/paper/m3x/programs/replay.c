// Makes the calls for files that another program has made, with the same sizes, and computes
// between them for as long as it has.   replay TRACE NAME
//
// The trace is what linux/record_calls.c writes, between the lines `trace NAME` and `trace end` of
// the file TRACE. A call that has another result than the one before ends the program.
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "measure.h"

enum { NUMBERS = 4, NAMES = 2, MOST_FILES = 64, LINUX_FILES = 256 };

struct call {
  uint64_t wait;
  int64_t result, numbers[NUMBERS];
  const char *names[NAMES];
  char kind;
};

static struct call *calls;
static size_t count;
static char *data;
// By the numbers of the program that was recorded.
static int files[LINUX_FILES];
static DIR *directories[LINUX_FILES];

static void fail(const char *what, size_t call) {
  fprintf(stderr, "replay: %s, call %zu (%c)\n", what, call, call < count ? calls[call].kind : '-');
  exit(1);
}

static char *read_all(const char *name) {
  FILE *file = fopen(name, "r");
  size_t size = 0, room = 1 << 16, got;
  char *text = malloc(room);
  while (file && text && (got = fread(text + size, 1, room - 1 - size, file))) {
    size += got;
    if (size == room - 1)
      text = realloc(text, room *= 2);
  }
  if (!file || !text)
    fail("no trace", 0);
  fclose(file);
  text[size] = 0;
  return text;
}

// A name, with the folder of this run.
static const char *name_here(const char *name) {
  if (*name != '@')
    return strdup(name);
  char *here = malloc(strlen(measured_folder) + strlen(name));
  if (here)
    strcat(strcpy(here, measured_folder), name + 1);
  return here;
}

static void parse(char *line) {
  static size_t room;
  if (count == room)
    calls = realloc(calls, (room = room ? 2 * room : 1024) * sizeof *calls);
  if (!calls)
    fail("no memory", 0);
  struct call *call = &calls[count];
  memset(call, 0, sizeof *call);
  char *rest;
  call->wait = strtoull(strtok_r(line, " ", &rest), NULL, 10);
  call->kind = *strtok_r(NULL, " ", &rest);
  call->result = strtoll(strtok_r(NULL, " ", &rest), NULL, 10);
  int numbers = 0, names = 0;
  for (char *word; (word = strtok_r(NULL, " ", &rest));) {
    char *end;
    int64_t number = strtoll(word, &end, 10);
    if (!*end && !names && numbers < NUMBERS)
      call->numbers[numbers++] = number;
    else if (names < NAMES)
      call->names[names++] = name_here(word);
  }
  count++;
}

void measure_prepares(int argc, char **argv) {
  if (argc != 3)
    exit(2);
  char begin[80], *rest, *text = read_all(argv[1]);
  snprintf(begin, sizeof begin, "trace %s", argv[2]);
  int is_inside = 0;
  for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
    if (!strcmp(line, begin))
      is_inside = 1;
    else if (!strncmp(line, "trace ", 6))
      is_inside = 0;
    else if (is_inside)
      parse(line);
  }
  free(text);
  if (!count)
    fail("an empty trace", 0);
  size_t most = 1;
  for (size_t n = 0; n < count; n++)
    if (strchr("rwpq", calls[n].kind) && (size_t)calls[n].numbers[1] > most)
      most = calls[n].numbers[1];
  data = malloc(most);
  if (!data)
    fail("no memory", 0);
  memset(data, '\n', most);
  for (int n = 0; n < LINUX_FILES; n++)
    files[n] = n < 3 ? n : -1;
}

// picolibc's flags by Linux's.
static int flags_of(int64_t flags) {
  return (flags & (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)) | (flags & 0x80 ? O_EXCL : 0) |
         (flags & 0x800 ? O_NONBLOCK : 0) | (flags & 0x80000 ? O_CLOEXEC : 0);
}
enum { LINUX_DIRECTORY = 0x10000, NOT_FOLLOWED = 0x100, REMOVES_DIRECTORY = 0x200 };

static int64_t open_one(const struct call *call) {
  int is_directory = (call->numbers[0] & LINUX_DIRECTORY) != 0;
  DIR *directory = is_directory ? opendir(call->names[0]) : NULL;
  int file = is_directory ? -!directory : open(call->names[0], flags_of(call->numbers[0]), 0644);
  if (call->result >= 0 && call->result < LINUX_FILES) {
    directories[call->result] = directory;
    files[call->result] = file;
  }
  return file;
}

static int64_t close_one(int64_t number) {
  DIR *directory = directories[number];
  directories[number] = NULL;
  // measure.c closes what it has opened.
  return directory ? closedir(directory) : number == 1 ? 0 : close(files[number]);
}

static int64_t entries_of(const struct call *call) {
  int64_t n = 0;
  DIR *directory = directories[call->numbers[0]];
  // The end is seen where there was none. It may come earlier: not all have `.` and `..`.
  for (; n < call->result || !call->result; n++)
    if (!directory || !readdir(directory))
      break;
  return n;
}

static int64_t make(const struct call *call) {
  const int64_t *number = call->numbers;
  const char *name = call->names[0];
  int file = number[0] >= 0 && number[0] < LINUX_FILES ? files[number[0]] : -1;
  struct stat about;
  char folder[256];
  static const struct timeval times[2];
  switch (call->kind) {
  case 'o':
    return open_one(call);
  case 'c':
    return close_one(number[0]);
  case 'r':
    return read(file, data, number[1]);
  case 'w':
    return write(file, data, number[1]);
  case 'p':
    return pread(file, data, number[1], number[2]);
  case 'q':
    return pwrite(file, data, number[1], number[2]);
  case 'l':
    return lseek(file, number[1], number[2]);
  case 't':
    return ftruncate(file, number[1]);
  case 'y':
    return fsync(file);
  case 'f':
    return fstat(file, &about);
  case 's':
    return number[0] & NOT_FOLLOWED ? lstat(name, &about) : stat(name, &about);
  case 'e':
    return entries_of(call);
  case 'a':
    return access(name, number[0]);
  case 'u':
    return number[0] & REMOVES_DIRECTORY ? rmdir(name) : unlink(name);
  case 'm':
    return mkdir(name, number[0]);
  case 'g':
    return chdir(name);
  case 'h':
    return chmod(name, number[0]);
  case 'n':
    return lchown(name, number[0], number[1]);
  case 'j':
    return fchown(file, number[1], number[2]);
  case 'H':
    return fchmod(file, number[1]);
  case 'i':
    return utimes(name, times);
  case 'v':
    return rename(name, call->names[1]);
  case 'k':
    return link(name, call->names[1]);
  case 'x':
    return umask(number[0]);
  case 'b':
    return fcntl(file, number[1], number[2]);
  case 'z':
    return getcwd(folder, sizeof folder) ? 1 : -1;
  }
  return -2;
}

int main(void) {
  uint64_t last_end = measure_time();
  for (size_t n = 0; n < count; n++) {
    const struct call *call = &calls[n];
    while (measure_time() - last_end < call->wait)
      ;
    int64_t result = make(call);
    last_end = measure_time();
    int is_size = strchr("rwpq", call->kind) != NULL;
    if (is_size ? result != call->result : (result < 0) != (call->result < 0))
      fail("another result", n);
  }
  return 0;
}
