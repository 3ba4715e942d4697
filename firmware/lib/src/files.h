// Between the calls of POSIX for files and what executes them.
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "file_table.h"
#include "server_protocol.h"

// What goes along with a request, in both directions.
struct file_bytes {
  const void *in;
  size_t in_size;
  void *out;
  // Or SIZE_OF_RESULT.
  uint64_t out_size;
};

int64_t __card_file_call(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes);
// A number is the same as another from now on, or none of the console if that is negative.
void __card_note_file(int number, int same);

// The number is of the console's input, which this program reads itself.
bool __card_is_console_input(int number);

#define CALL(operation, bytes, ...) __card_file_call(operation, (uint64_t[3]){__VA_ARGS__}, bytes)
#define NO_BYTES ((struct file_bytes){0})

static inline int64_t card_result(int64_t result) {
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}

// Files of servers on the root's tile have names below this one, and numbers behind MOST_FILES.
#define SERVER_FILES "/srv/"

static inline bool __card_is_server_path(const char *path) {
  return !strncmp(path, SERVER_FILES, strlen(SERVER_FILES));
}

static inline bool operation_has_path(uint32_t operation) {
  switch (operation) {
  case FILE_OPEN:
  case FILE_ABOUT:
  case FILE_REMOVE:
  case FILE_REMOVE_DIRECTORY:
  case FILE_MAKE_DIRECTORY:
  case FILE_RENAME:
  case FILE_LINK:
  case FILE_LIST:
    return true;
  }
  return false;
}

// Low numbers that are of such files, too, as bits: dup2 has made them so. Other files are behind
// them meanwhile, so that the numbers are in use.
extern uint64_t __card_server_numbers;

static inline bool __card_is_server_number(uint64_t number) {
  return number >= MOST_FILES ||
         __atomic_load_n(&__card_server_numbers, __ATOMIC_RELAXED) >> number & 1;
}

// What posix_spawn says in the environment: the directory, and files of servers.
#define SPAWNED_FILES "FLICK_SPAWNED_FILES="
void __card_open_spawned_files(const char *text);
void __card_begin_directory(const char *path, size_t size);

// What executes names of files of servers, if the program is linked with it. Results are as of
// __card_file_call.
int64_t __card_server_path(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes);
// And what executes them if they are open.
int64_t __card_server_file(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes);
void __card_end_server_files(void);

// The name from the root: `path` itself, or in `full`, which has PATH_SIZE bytes. NULL: it is too
// long.
// `size` gets its bytes with the zero.
const char *__card_full_path(const char *path, char *full, size_t *size);

// The folder of names without a slash in front from now on.
int64_t __card_enter_folder(const char *path);

struct stat;
int __card_describe_file(const struct card_file_about *from, struct stat *about);

// At the start of a program. `spawned`: NULL if it runs alone.
void __card_begin_files(const struct card_spawned_start *spawned);
