// Open files of servers, by the numbers of POSIX (docs/files.md). Their numbers are behind those of
// other files, and low ones that dup2 has made.
#pragma once
#include <flick/files.h>
#include <stdbool.h>

#include "files.h"
#include "thread.h"

#define MOST_SERVER_NAME 32

struct server {
  char name[MOST_SERVER_NAME + 1];
  struct flick_files files;
  // Its files that are open, and calls by it. A server that is gone stays until there are none.
  unsigned users;
  bool is_used, is_gone;
};

// Who uses the page of a session holds it.
extern struct card_word __card_server_pages;

// The session with a server, which has a user more. NULL: there is none.
struct server *__card_find_server(const char *name, size_t size, uint64_t until);
void __card_hold_server(struct server *server);
void __card_release_server(struct server *server);

struct server_number {
  struct card_word lock;
  _Alignas(CARD_LINE) bool is_used;
  // Opened to be named and synced alone: the server knows nothing of it.
  bool is_directory;
  int flags;
  // Low numbers that are the same, and its own.
  unsigned users;
  struct server *server;
  struct flick_file file;
};

// A pipe of the server of pipes. -1: there is no such server, or it has no more.
int __card_server_pipe(int numbers[2]);

// A number for a file that is opened now, and EMFILE: there is none.
struct server_number *__card_take_number(void);
// It is open. Returns the number.
int __card_open_number(struct server_number *number, struct server *server, int flags);
// The place of a number, and NULL: it is of no file of a server.
struct server_number *__card_number_of(int name);

void __card_describe(struct card_file_about *about, const struct flick_file_about *from);
