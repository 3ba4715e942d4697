// Several processes use a server at once. One ends while it writes behind the end of a file, and
// what it has open does not stay open.
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <flick/files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 25, MOST = 30000 };

static struct flick_files files;
static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld (errno %d)\n", what, (long)outcome, (long)wanted, errno);
  wrong++;
}

static char byte_of(const char *own, size_t n) { return own[0] * 7 + n * 13 + n / 256; }

static void put(const char *own) {
  static char data[MOST];
  char path[40];
  snprintf(path, sizeof path, "/%s", own);
  expect(flick_files_make_directory(&files, path), 0, "mkdir");
  for (int n = 0; n < FILES; n++) {
    struct flick_file file;
    size_t size = n * 1171 % MOST;
    for (size_t at = 0; at < size; at++)
      data[at] = byte_of(own, at + n);
    snprintf(path, sizeof path, "/%s/%d", own, n);
    expect(flick_file_open(&files, &file, path, O_WRONLY | O_CREAT | O_EXCL), 0, "open");
    for (size_t at = 0; at < size; at += 5000) {
      size_t part = size - at < 5000 ? size - at : 5000;
      expect(flick_file_write(&file, data + at, part), part, "write");
    }
    expect(flick_file_close(&file), 0, "close");
  }
}

static void check(const char *of) {
  static char data[MOST];
  char path[40];
  struct flick_file_about about;
  for (int n = 0; n < FILES; n++) {
    struct flick_file file;
    size_t size = n * 1171 % MOST;
    snprintf(path, sizeof path, "/%s/%d", of, n);
    while (flick_files_about(&files, path, &about) || about.size < size)
      flick_thread_sleep(flick_time() + flick_program.frequency / 10000);
    expect(flick_file_open(&files, &file, path, O_RDONLY), 0, "open");
    expect(flick_file_read(&file, data, MOST), size, "read");
    for (size_t at = 0; at < size; at++)
      if (data[at] != byte_of(of, at + n)) {
        expect(at, size, "a byte that is another's");
        break;
      }
    expect(flick_file_close(&file), 0, "close");
  }
}

// Ends without a word.
static void leave(void) {
  static struct flick_file all[16];
  for (int n = 0; n < 16; n++)
    expect(flick_file_open(&files, &all[n], "/left", O_WRONLY | O_CREAT), 0, "open");
  expect(flick_file_write(&all[3], "text", 4), 4, "write");
  expect(flick_files_make_directory(&files, "/is-left"), 0, "mkdir");
}

static void take_over(void) {
  struct flick_file file;
  struct flick_file_about about;
  while (flick_files_about(&files, "/is-left", &about))
    flick_thread_sleep(flick_time() + flick_program.frequency / 10000);
  expect(flick_file_open(&files, &file, "/left", O_RDWR), 0, "open of what another one left");
  ssize_t written;
  int tries = 0;
  while ((written = flick_file_write(&file, "new", 3)) < 0 && errno == EEXIST && tries++ < 1000)
    flick_thread_sleep(flick_time() + flick_program.frequency / 10000);
  expect(written, 3, "a write behind the end");
  expect(flick_file_size(&file), 3, "the size without what was not committed");
  expect(flick_file_close(&file), 0, "close");
}

int main(int argc, char **argv) {
  const char *role = argc > 1 ? argv[1] : "first";
  expect(flick_files_connect(&files, "files", FLICK_FOR_EVER), 0, "connect");
  if (!strcmp(role, "leaves")) {
    leave();
    return wrong != 0;
  }
  put(role);
  for (int n = 1; n < argc; n++)
    check(argv[n]);
  if (argc == 1) {
    check("second");
    check("third");
    take_over();
    printf("checks that fail: %d\n", wrong);
  }
  return wrong != 0;
}
