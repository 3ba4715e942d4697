// The calls of POSIX for files that are open. A program that runs alone has them in its own memory.
// Else the servers have them, and all programs of the tile share them.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/lock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "console.h"
#include "file_table.h"
#include "files.h"
#include "server_call.h"
#include "server_numbers.h"

// A program that names no files, and runs alone, is linked without these.
#pragma weak __card_file_execute

// The numbers of files that are the console, as bits. Its bytes go to the kernel at once: a wait
// for input is under no lock, and a line of output is in one piece.
#define CONSOLE_FILES 3

static struct {
  _Alignas(CARD_LINE) uint64_t input;
  uint64_t output;
  // Reads do not wait.
  uint64_t impatient;
} console_files = {1, 6, 0};

static struct {
  _Alignas(CARD_LINE) struct file_table table;
} own;

uint64_t __card_server_numbers;

void __card_begin_files(const struct card_spawned_start *spawned) {
  static _Alignas(CARD_LINE) struct file_description console = {
      .kind = FILE_OF_CONSOLE, .flags = O_RDWR, .users = 4};
  if (spawned) {
    console_files.input = 0;
    console_files.output = spawned->console;
    return;
  }
  for (int number = 0; number < CONSOLE_FILES; number++)
    own.table.open[number] = &console;
}

static bool is_one_of(const uint64_t *bits, int number) {
  return number >= 0 && number < MOST_FILES &&
         __atomic_load_n(bits, __ATOMIC_RELAXED) >> number & 1;
}

bool __card_is_console_input(int number) { return is_one_of(&console_files.input, number); }

// A number is the same as another from now on, or none of the console if that is negative.
void __card_note_file(int number, int same) {
  uint64_t *all[] = {&console_files.input, &console_files.output, &console_files.impatient};
  for (int n = 0; n < 3; n++) {
    uint64_t *bits = all[n];
    if (is_one_of(bits, same))
      __atomic_fetch_or(bits, 1ul << number, __ATOMIC_RELAXED);
    else
      __atomic_fetch_and(bits, ~(1ul << number), __ATOMIC_RELAXED);
  }
}

static int64_t about_console(char *out) {
  struct card_file_about about = {.mode = S_IFCHR | 0600};
  memcpy(out, &about, sizeof about);
  return 0;
}

// There are no files but the console.
static int64_t console_alone(uint32_t operation, uint64_t number, char *out) {
  if (number >= CONSOLE_FILES)
    return -EBADF;
  switch (operation) {
  case FILE_CLOSE:
    return 0;
  case FILE_READY:
    return FLICK_FILES_READY_WRITE;
  case FILE_SEEK:
    return -ESPIPE;
  case FILE_ABOUT_OPEN:
    return about_console(out);
  }
  return -EINVAL;
}

static bool is_of_server(uint32_t operation, const uint64_t *arguments, const char *path) {
  if (operation == FILE_PIPE)
    return false;
  return operation_has_path(operation) ? __card_is_server_path(path)
                                       : __card_is_server_number(arguments[0]);
}

// The library's lock is for a moment only: no call here waits for anything.
int64_t __card_file_call(uint32_t operation, const uint64_t *arguments, struct file_bytes bytes) {
  if (is_of_server(operation, arguments, bytes.in))
    return __card_server_file(operation, arguments, bytes);
  if (!card_has_servers()) {
    if (!__card_file_execute)
      return console_alone(operation, arguments[0], bytes.out);
    __LIBC_LOCK();
    int64_t result = __card_file_execute(&own.table, operation, arguments, bytes.in, bytes.out);
    __LIBC_UNLOCK();
    return result;
  }
  struct card_request request = {.operation = operation};
  struct card_reply reply;
  memcpy(request.arguments, arguments, 3 * sizeof *arguments);
  return __card_window_call(&request, &reply, bytes.in, bytes.in_size, bytes.out, bytes.out_size);
}

int close(int number) {
  int64_t result = CALL(FILE_CLOSE, NO_BYTES, number);
  if (result == 0)
    __card_note_file(number, -1);
  return card_result(result);
}

// Files of other servers wait there, or must not.
static int64_t wait_for(int number, bool writes, size_t size) {
  if (__card_is_server_number(number))
    return -EAGAIN;
  struct card_request request = {.operation = FILE_WAIT, .arguments = {number, writes, size}};
  struct card_reply reply;
  return __card_server_call(&request, &reply);
}

// What one call takes: the servers have a window for data.
static size_t piece_of(int number, size_t size) {
  return card_has_servers() && !__card_is_server_number(number) && size > WINDOW_SIZE ? WINDOW_SIZE
                                                                                      : size;
}

// Moves bytes by one call, at the position of the file or at an offset.
typedef int64_t read_piece(int number, char *buffer, size_t size, off_t offset);
typedef int64_t write_piece(int number, const char *buffer, size_t size, off_t offset);

static int64_t read_here(int number, char *buffer, size_t size, off_t offset) {
  (void)offset;
  for (;;) {
    struct file_bytes bytes = {.out = buffer, .out_size = SIZE_OF_RESULT};
    int64_t done = CALL(FILE_READ, bytes, number, size);
    if (done != -EAGAIN || (done = wait_for(number, false, 0)) < 0)
      return done;
  }
}

static int64_t read_at(int number, char *buffer, size_t size, off_t offset) {
  struct file_bytes bytes = {.out = buffer, .out_size = SIZE_OF_RESULT};
  return CALL(FILE_READ_AT, bytes, number, size, offset);
}

static int64_t write_here(int number, const char *buffer, size_t size, off_t offset) {
  (void)offset;
  for (;;) {
    struct file_bytes bytes = {.in = buffer, .in_size = size};
    int64_t done = CALL(FILE_WRITE, bytes, number, size);
    if (done != -EAGAIN || (done = wait_for(number, true, size)) < 0)
      return done;
  }
}

static int64_t write_at(int number, const char *buffer, size_t size, off_t offset) {
  struct file_bytes bytes = {.in = buffer, .in_size = size};
  return CALL(FILE_WRITE_AT, bytes, number, size, offset);
}

static ssize_t read_all(read_piece *piece, int number, char *buffer, size_t size, off_t offset) {
  size_t done = 0;
  for (;;) {
    int64_t got = piece(number, buffer + done, piece_of(number, size - done), offset + done);
    if (got < 0 && !done)
      return card_result(got);
    done += got > 0 ? got : 0;
    // A pipe is not waited for when there are bytes. Files of servers need one call.
    if (got < WINDOW_SIZE || done == size || __card_is_server_number(number))
      return done;
  }
}

static ssize_t write_all(write_piece *piece, int number, const char *buffer, size_t size,
                         off_t offset) {
  size_t done = 0;
  do {
    int64_t put = piece(number, buffer + done, piece_of(number, size - done), offset + done);
    if (put < 0 && !done)
      return card_result(put);
    if (put <= 0)
      break;
    done += put;
  } while (done < size);
  return done;
}

ssize_t read(int number, void *buffer, size_t size) {
  if (is_one_of(&console_files.input, number)) {
    if (is_one_of(&console_files.impatient, number) && !__card_console_ready())
      return card_result(-EAGAIN);
    return __card_console_read(buffer, size);
  }
  return read_all(read_here, number, buffer, size, 0);
}

ssize_t write(int number, const void *buffer, size_t size) {
  if (is_one_of(&console_files.output, number))
    return __card_console_write(buffer, size);
  return write_all(write_here, number, buffer, size, 0);
}

off_t lseek(int number, off_t offset, int whence) {
  return card_result(CALL(FILE_SEEK, NO_BYTES, number, offset, whence));
}

// Read or write elsewhere, and the position stays.
ssize_t pread(int number, void *buffer, size_t size, off_t offset) {
  return read_all(read_at, number, buffer, size, offset);
}

ssize_t pwrite(int number, const void *buffer, size_t size, off_t offset) {
  return write_all(write_at, number, buffer, size, offset);
}

int ftruncate(int number, off_t size) {
  return card_result(CALL(FILE_RESIZE, NO_BYTES, number, size));
}

int fsync(int number) {
  return !__card_is_server_number(number) ? 0 : card_result(CALL(FILE_COMMIT, NO_BYTES, number));
}

int __card_describe_file(const struct card_file_about *from, struct stat *about) {
  *about = (struct stat){.st_mode = from->mode,
                         .st_nlink = from->links ? from->links : 1,
                         .st_ino = from->number,
                         .st_size = from->size,
                         .st_blksize = FLICK_PAGE};
  return 0;
}

int fstat(int number, struct stat *about) {
  struct card_file_about from;
  struct file_bytes bytes = {.out = &from, .out_size = sizeof from};
  int result = card_result(CALL(FILE_ABOUT_OPEN, bytes, number));
  return result ? result : __card_describe_file(&from, about);
}

int isatty(int number) {
  struct stat about;
  if (fstat(number, &about))
    return 0;
  if (S_ISCHR(about.st_mode))
    return 1;
  errno = ENOTTY;
  return 0;
}

int fcntl(int number, int command, ...) {
  va_list values;
  va_start(values, command);
  int value = va_arg(values, int);
  va_end(values);
  if (command == F_SETFL && __card_is_console_input(number)) {
    if (value & O_NONBLOCK)
      __atomic_fetch_or(&console_files.impatient, 1ul << number, __ATOMIC_RELAXED);
    else
      __atomic_fetch_and(&console_files.impatient, ~(1ul << number), __ATOMIC_RELAXED);
  }
  return card_result(CALL(FILE_FLAGS, NO_BYTES, number, command, value));
}

// Accelerators reach a pipe of the server of pipes. Without this server, a pipe is between
// programs: nobody would wake a thread of this one.
int pipe(int numbers[2]) {
  if (!__card_server_pipe(numbers))
    return 0;
  int64_t made = card_has_servers() ? CALL(FILE_PIPE, NO_BYTES, 0) : -ENOSYS;
  if (made < 0)
    return card_result(made);
  numbers[0] = (int32_t)made;
  numbers[1] = made >> 32;
  __card_note_file(numbers[0], -1);
  __card_note_file(numbers[1], -1);
  return 0;
}
