// Calls of Linux for files, which are written down: each with its result, its arguments, and the
// time since the one before. In place of file_calls.c in programs whose calls are replayed
// (../replay.c).
//
// A line has the time in ticks, a letter, the result, and arguments. Names are the last ones, and
// have @ for the measured folder. A result below 0 is an error of Linux.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "measured_calls.h"

struct measured measured;

enum { MOST_BYTES = 8 << 20 };
static char lines[MOST_BYTES];
static size_t size;
static uint64_t last_end;
static bool records;

static void put(const char *text) {
  while (*text && size < MOST_BYTES)
    lines[size++] = *text++;
}

static void put_number(int64_t value) {
  char digits[24], *at = digits + sizeof digits;
  uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
  *--at = 0;
  do
    *--at = '0' + rest % 10;
  while (rest /= 10);
  if (value < 0)
    *--at = '-';
  put(at);
}

static void put_name(int64_t name) {
  const char *text = (const char *)name;
  size_t prefix = strlen(measured_folder);
  put(" ");
  if (!strncmp(text, measured_folder, prefix)) {
    put("@");
    text += prefix;
  }
  put(text);
}

// Entries of a directory in what getdents64 has returned.
static int64_t entries(const char *from, int64_t bytes) {
  int64_t count = 0;
  for (int64_t at = 0; at < bytes; count++) {
    uint16_t step;
    memcpy(&step, from + at + 16, sizeof step);
    at += step;
  }
  return count;
}

// The arguments of a call: its letter, how many numbers, from which one on, and which ones are
// names.
struct form {
  int number;
  char letter;
  unsigned char first, numbers, names[2];
};
enum { NONE = 9 };
static const struct form forms[] = {
    {LINUX_OPENAT, 'o', 2, 1, {1, NONE}},     {LINUX_CLOSE, 'c', 0, 1, {NONE, NONE}},
    {LINUX_READ, 'r', 0, 3, {NONE, NONE}},    {LINUX_WRITE, 'w', 0, 3, {NONE, NONE}},
    {LINUX_PREAD64, 'p', 0, 4, {NONE, NONE}}, {LINUX_PWRITE64, 'q', 0, 4, {NONE, NONE}},
    {LINUX_LSEEK, 'l', 0, 3, {NONE, NONE}},   {LINUX_FTRUNCATE, 't', 0, 2, {NONE, NONE}},
    {LINUX_FSYNC, 'y', 0, 1, {NONE, NONE}},   {LINUX_FSTAT, 'f', 0, 1, {NONE, NONE}},
    {LINUX_NEWFSTATAT, 's', 3, 1, {1, NONE}}, {LINUX_GETDENTS64, 'e', 0, 1, {NONE, NONE}},
    {LINUX_FACCESSAT, 'a', 2, 1, {1, NONE}},  {LINUX_UNLINKAT, 'u', 2, 1, {1, NONE}},
    {LINUX_MKDIRAT, 'm', 2, 1, {1, NONE}},    {LINUX_CHDIR, 'g', 0, 0, {0, NONE}},
    {LINUX_FCHMODAT, 'h', 2, 1, {1, NONE}},   {LINUX_FCHOWNAT, 'n', 2, 2, {1, NONE}},
    {LINUX_UTIMENSAT, 'i', 0, 0, {1, NONE}},  {LINUX_RENAMEAT2, 'v', 0, 0, {1, 3}},
    {LINUX_LINKAT, 'k', 0, 0, {1, 3}},        {LINUX_UMASK, 'x', 0, 1, {NONE, NONE}},
    {LINUX_FCNTL, 'b', 0, 3, {NONE, NONE}},   {LINUX_DUP, 'd', 0, 1, {NONE, NONE}},
    {LINUX_GETCWD, 'z', 1, 1, {NONE, NONE}},  {LINUX_FCHOWN, 'j', 0, 3, {NONE, NONE}},
    {LINUX_FCHMOD, 'H', 0, 2, {NONE, NONE}},
};

static void write_down(uint64_t begun, int64_t result, int64_t number, const int64_t *values) {
  const struct form *form = forms, *end = forms + sizeof forms / sizeof *forms;
  while (form < end && form->number != number)
    form++;
  // Memory is no file: its time is the program's.
  if (number == LINUX_MUNMAP)
    return;
  put_number(begun - last_end);
  if (form == end) {
    put(" ? ");
    put_number(number);
    put("\n");
    return;
  }
  char letter[] = {' ', form->letter, ' ', 0};
  put(letter);
  put_number(form->letter == 'e' && result > 0 ? entries((const char *)values[1], result) : result);
  for (int n = form->first; n < form->first + form->numbers; n++) {
    // Where data are is no matter.
    bool is_address = n == 1 && (form->letter == 'r' || form->letter == 'w' ||
                                 form->letter == 'p' || form->letter == 'q');
    if (is_address)
      continue;
    put(" ");
    put_number(values[n]);
  }
  for (int n = 0; n < 2; n++)
    if (form->names[n] != NONE)
      put_name(values[form->names[n]]);
  put("\n");
  last_end = measure_time();
}

int64_t linux_file_call(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
  struct arguments all = {{a, b, c, d, e}};
  uint64_t begun = measure_time();
  int64_t result = measured_call(begun, number, &all);
  if (records)
    write_down(begun, result, number, all.words);
  return with_errno(result);
}

void measure_begins(void) {
  // Its pages are there then.
  memset(lines, 1, sizeof lines);
  size = 0;
  records = true;
  last_end = measure_time();
}

void measure_ends(void) {
  records = false;
  char name[256];
  snprintf(name, sizeof name, "%s/trace", measured_folder);
  FILE *file = fopen(name, "w");
  if (!file || size == MOST_BYTES || fwrite(lines, 1, size, file) != size || fclose(file))
    fprintf(stderr, "no trace\n");
}
