// What posix_spawn gives a program, beside its arguments: actions for files, and files of servers.
#pragma once
#include <spawn.h>
#include <stdbool.h>

#include "server_numbers.h"
#include "server_protocol.h"

#define MOST_ACTIONS 64

struct __posix_spawn_file_actions {
  uint32_t count, room;
  struct {
    struct card_spawn_action action;
    char *path;
  } all[];
};

// Open files of servers that a program gets: each is shared for it, and it has not adopted it yet.
struct card_gifts {
  uint32_t count;
  struct card_gift {
    struct server *server;
    uint64_t low, number, key;
  } all[MOST_FILES];
};

// Shares what the program shall have by these actions (NULL: none), and low numbers that are files
// of servers. Actions that concern these alone are noted in `is_done`. Returns 0 or an error.
int __card_give_files(struct card_gifts *gifts, const struct __posix_spawn_file_actions *actions,
                      bool is_done[MOST_ACTIONS]);
// What the program has not adopted is closed.
void __card_take_back(struct card_gifts *gifts);
// The program has them until it ends.
void __card_keep_gifts(struct card_gifts *gifts, pid_t process);
// It has ended.
void __card_end_gifts(pid_t process);
