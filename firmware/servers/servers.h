// The servers of a tile: one process, whose first thread takes requests one after the other. So
// there are no locks, and all state belongs to that thread.
#pragma once
#include "cache.h"
#include "file_table.h"

// A program that the servers have started.
struct program {
  struct program *next;
  // NULL: it is of the command line, or its parent has ended.
  struct program *parent;
  // The kernel's number of its process.
  uint64_t number;
  // Of its end.
  uint64_t status;
  bool is_over;
  // Of the command line, and the first one there.
  bool is_given, is_first;
  // Where its replies go; 0: it has asked nothing yet.
  uint16_t port;
  // Requests that wait.
  uint16_t waiting;
  // Names and regions that it has.
  uint16_t names;
  char *window;
  struct file_table files;
};

// Most names and regions of one program, and most requests of it that wait.
#define MOST_NAMES 64
#define MOST_WAITING 64

// What a request gets that cannot be answered yet. It is executed again after each change.
#define MUST_WAIT INT64_MIN

// Each server executes requests of programs. The result is that of the reply.
int64_t file_server(struct program *program, const struct card_request *request);
int64_t name_server(struct program *program, const struct card_request *request,
                    struct card_reply *reply);
int64_t memory_server(struct program *program, const struct card_request *request,
                      struct card_reply *reply);
int64_t spawn_server(struct program *program, const struct card_request *request,
                     struct card_reply *reply);

// A program has ended: what it leaves goes.
void end_files(struct program *program);
void end_names(struct program *program);
void end_regions(struct program *program);
void end_requests(struct program *program);

// Something has happened for which requests may wait.
void note_change(void);

// Is there memory for so many bytes, and some for others? A page that is not there would end the
// servers.
bool memory_is_left(uint64_t size);
// The text of a request; NULL: it is none.
const char *name_of(const struct card_request *request);
// A result of a kernel call, as a reply has it.
int64_t reply_of(int64_t result);

// So many bytes that the program has written to its window.
static inline const char *window_of(const struct program *program, size_t size) {
  card_acquired_bytes(program->window, size);
  return program->window;
}

struct program *programs(void);
struct program *program_of(uint64_t number);
// Starts a program of the command line. Returns 0, or an error.
int64_t start_given(char *const *arguments, unsigned count, bool is_first);
// A process that the kernel has ended.
void child_ended(uint64_t number, uint64_t status);
// The thread that waits for ends of processes; there is one more to wait for.
void *await_children(void *unused);
void note_child(void);

// What a new program gets.
struct order {
  const char *path;
  // Arguments and environment, each text with a zero byte.
  const char *texts;
  size_t size;
  unsigned arguments, environment;
};
// Starts a program that has its files already.
int64_t start_program(struct program *program, const struct order *order);
void drop_window(struct program *program);

// A file that is a program.
struct image {
  const char *data;
  size_t size;
  uint64_t entry;
};
// Loads it into a process without threads.
int64_t load_program(uint64_t process, struct image *image);
// Gives a process memory with these bytes at its start.
int64_t give_memory(uint64_t process, uint64_t target, uint64_t size, unsigned rights,
                    const void *bytes, uint64_t filled);

// The console as an open file, and bytes of its input that were read.
struct file_description *console_file(void);
void take_input(int64_t size);
// The thread that reads it.
void *read_console(void *unused);

// Where the servers' own mappings are: behind what the kernel chooses, and below stacks.
#define WINDOWS 0x1800000000ul
#define REGIONS 0x1900000000ul
#define SCRATCH 0x1a00000000ul
// What one call of the kernel maps.
#define MOST_MAPPED ((uint64_t)FLICK_PAGES_AT_ONCE * FLICK_PAGE)
