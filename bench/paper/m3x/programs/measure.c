// A program between two readings of the machine's clock: the same for the card and for Linux. The
// first argument is a folder, and the program prints into the file `printed` there. At its end a
// line on the console has its time and that of its calls for files, in ticks:
//   measured NAME: ticks T calls N took T moves N took T bytes N one-byte T printed N sum S
// Moves are the calls that move data. `one-byte` is what such a call takes for one byte. The sum is
// of the lines that it has printed, in any order and without the folder's name.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

int __real_main(int argc, char **argv, char **envp);

static uint64_t begun, one_byte;
static const char *name;
const char *measured_folder;
static char printed[256];

// FNV-1a of each line.
static uint64_t sum_of_lines(unsigned long long *bytes) {
  uint64_t sum = 0;
  size_t prefix = strlen(measured_folder);
  char line[1024];
  FILE *file = fopen(printed, "r");
  while (file && fgets(line, sizeof line, file)) {
    uint64_t hash = 0xcbf29ce484222325;
    *bytes += strlen(line);
    for (const char *at = line; *at; at++) {
      if (!strncmp(at, measured_folder, prefix)) {
        *bytes -= prefix;
        at += prefix - 1;
        continue;
      }
      hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
    }
    sum += hash;
  }
  if (file)
    fclose(file);
  return sum;
}

static void report(void) {
  // What was written is the file's then.
  fflush(NULL);
  close(1);
  unsigned long long all = measure_time() - begun, bytes = 0;
  struct measured is = measured;
  if (measure_ends)
    measure_ends();
  unsigned long long sum = sum_of_lines(&bytes);
  char line[300];
  int size = snprintf(
      line, sizeof line,
      "measured %s: ticks %llu calls %llu took %llu moves %llu took %llu bytes %llu one-byte %llu "
      "printed %llu sum %llx\n",
      name, all, (unsigned long long)is.calls, (unsigned long long)is.call_time,
      (unsigned long long)is.moves, (unsigned long long)is.move_time,
      (unsigned long long)is.bytes_moved, (unsigned long long)one_byte, bytes, sum);
  write(2, line, size);
}

// The quickest move of one byte, of a read and a write together.
static uint64_t time_one_byte(int file) {
  uint64_t least = UINT64_MAX;
  for (int n = 0; n < 16; n++) {
    char byte = 0;
    uint64_t before = measured.move_time;
    lseek(file, 0, SEEK_SET);
    write(file, &byte, 1);
    lseek(file, 0, SEEK_SET);
    read(file, &byte, 1);
    if (measured.move_time - before < least)
      least = measured.move_time - before;
  }
  lseek(file, 0, SEEK_SET);
  ftruncate(file, 0);
  return least / 2;
}

int __wrap_main(int argc, char **argv, char **envp) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s FOLDER NAME [ARGUMENT...]\n", argv[0]);
    return 2;
  }
  measured_folder = argv[1];
  name = argv[2];
  snprintf(printed, sizeof printed, "%s/printed", measured_folder);
  int output = open(printed, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (output >= 0)
    one_byte = time_one_byte(output);
  if (output < 0 || dup2(output, 1) != 1) {
    perror(printed);
    return 2;
  }
  close(output);
  // It is called behind all that the program registers.
  atexit(report);
  if (measure_prepares)
    measure_prepares(argc - 2, argv + 2);
  if (measure_begins)
    measure_begins();
  memset(&measured, 0, sizeof measured);
  begun = measure_time();
  return __real_main(argc - 2, argv + 2, envp);
}
