// Open files of a program, and what it does with them. The library executes this in the program if
// it runs alone. Else the servers do, with a table for each program.
#pragma once
#include <stddef.h>
#include <sys/types.h>

#include "file_tree.h"
#include "server_protocol.h"

#define MOST_FILES 64

struct file_pipe {
  size_t first, count;
  // Open ends. Without writers it has an end.
  uint32_t readers, writers;
  char bytes[4096];
};

enum file_kind { FILE_OF_NODE, FILE_OF_CONSOLE, FILE_OF_PIPE, FILE_OF_DIRECTORY, FILE_OF_NOTHING };

// What several numbers, also of several programs, have in common.
struct file_description {
  enum file_kind kind;
  int flags;
  off_t position;
  uint32_t users;
  struct file_node *node;
  // Of the console: its input, in the servers.
  struct file_pipe *pipe;
};

struct file_table {
  struct file_description *open[MOST_FILES];
  // As bits.
  uint64_t close_on_exec;
};

// Returns a result, or the negative number of an error. `in` has paths, each with a zero byte, or
// bytes to write.
int64_t __card_file_execute(struct file_table *table, uint32_t operation, const uint64_t *arguments,
                            const char *in, char *out);

// One more user.
struct file_description *__card_share_file(struct file_description *file);
void __card_close_file(struct file_table *table, unsigned number);

size_t __card_fill_pipe(struct file_pipe *pipe, const char *bytes, size_t size);
// Would a read, or a write of so many bytes, have to wait?
bool __card_file_waits(const struct file_description *file, bool writes, size_t size);
// Neither: bits of FLICK_FILES_READY_READ and kin.
int64_t __card_file_ready(const struct file_description *file);
