// Files and pipes of the card's servers, alone and as ends of chains.
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>

static char text[200000];

static size_t contents(const char *path, char *to, size_t size) {
  int number = opened(path, O_RDONLY);
  size_t all = number < 0 ? 0 : read_all(number, to, size);
  close(number);
  return all;
}

static void write_file(const char *path, int flags, const char *bytes, size_t size) {
  int number = opened(path, O_WRONLY | flags);
  expect(!write_all(number, bytes, size), path);
  closes(number, path);
}

int main(void) {
  static char back[sizeof text + 1];
  char sums[2][33] = {""};
  struct stat about;
  // One of the first files can be read at any place.
  int number = opened("card:/files/first", O_RDONLY);
  expect(!fstat(number, &about) && about.st_size == 12, "a size");
  expect(lseek(number, 6, SEEK_SET) == 6 && read(number, back, 100) == 6 &&
             !memcmp(back, "lines\n", 6),
         "a position");
  expect(write(number, "x", 1) < 0, "a write to a number to read");
  closes(number, "a file");

  for (size_t n = 0; n < sizeof text; n++)
    text[n] = n * n % 251;
  write_file("card:/files/new", O_CREAT | O_TRUNC, text, sizeof text);
  expect(contents("card:/files/new", back, sizeof back) == sizeof text &&
             !memcmp(text, back, sizeof text),
         "a file that was written");
  write_file("card:/files/new", O_APPEND, "end", 3);
  expect(contents("card:/files/new", back, sizeof back) == sizeof text + 1,
         "more than there is room for");
  expect(flick_open("card:/files/none", O_RDONLY) < 0 && errno == ENOENT, "no file");
  expect(flick_open("card:/files/none/x", O_WRONLY | O_CREAT) < 0, "no directory");
  expect(flick_open("card:/files/new", O_RDWR) < 0 && errno == EINVAL, "a file to read and write");
  expect(flick_open("card:/nobody/new", O_RDONLY) < 0 && errno == ENOENT, "no server");

  number = opened("card:/files/first|sha256", O_RDONLY);
  expect(read_all(number, sums[0], 33) == 32, "a file into an accelerator");
  closes(number, "its end");
  number = opened("card:/files/first|sha256|files/sum", O_RDONLY);
  expect(read_all(number, back, 1) == 0, "a chain between files has nothing to read");
  closes(number, "its end");
  expect(contents("card:/files/sum", sums[1], 33) == 32 && !memcmp(sums[0], sums[1], 32),
         "the same sum");
  number = opened("card:/sha256|files/sum", O_WRONLY);
  expect(!write_all(number, "first lines\n", 12), "into an accelerator");
  closes(number, "its end");
  expect(contents("card:/files/sum", sums[1], 33) == 32 && !memcmp(sums[0], sums[1], 32),
         "again the same");

  int ends[2] = {opened("card:/pipes/one", O_RDONLY | O_CREAT),
                 opened("card:/pipes/one", O_WRONLY)};
  expect(write(ends[1], "through a pipe", 14) == 14, "a pipe");
  expect(read_all(ends[0], back, 14) == 14 && !memcmp(back, "through a pipe", 14), "its other end");
  closes(ends[1], "the writer");
  expect(read(ends[0], back, 1) == 0, "the end of a pipe");
  closes(ends[0], "the reader");
  // An accelerator writes into a pipe, and the program reads it.
  ends[0] = opened("card:/pipes/two", O_RDONLY | O_CREAT);
  ends[1] = opened("card:/sha256|pipes/two", O_WRONLY);
  expect(!write_all(ends[1], "first lines\n", 12), "into an accelerator");
  closes(ends[1], "its end");
  expect(read_all(ends[0], sums[1], 33) == 32 && !memcmp(sums[0], sums[1], 32),
         "the sum by a pipe");
  closes(ends[0], "the reader");
  return conclude();
}
