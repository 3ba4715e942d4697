// What programs and the servers say to each other (docs/kernel.md, "Servers"). A request is a
// message to the servers' mailbox. Data that it has no room for are in the program's window: memory
// that the program and the servers share.
#pragma once
#include <flick/card.h>

// The servers' mailbox. Programs get one of FIRST_REPLY_PORT or above.
#define SERVER_PORT 1023
#define FIRST_REPLY_PORT 512
#define WINDOW_SIZE (16u << 10)
#define NAME_SIZE 64
// Names of files, with their zero.
#define PATH_SIZE 1024

enum card_operation {
  // Files: what file_table.c executes.
  FILE_OPEN = 1,
  FILE_CLOSE,
  FILE_READ,
  FILE_READ_AT,
  FILE_WRITE,
  FILE_WRITE_AT,
  FILE_SEEK,
  FILE_RESIZE,
  FILE_ABOUT_OPEN,
  FILE_ABOUT,
  FILE_REMOVE,
  FILE_REMOVE_DIRECTORY,
  FILE_MAKE_DIRECTORY,
  FILE_RENAME,
  FILE_LIST,
  FILE_DUPLICATE,
  FILE_FLAGS,
  FILE_PIPE,
  FILE_LINK,
  // Others see what was written.
  FILE_COMMIT,
  // A wait until a pipe or the console is not empty, or has room.
  FILE_WAIT,
  // What would not wait: bits of FLICK_FILES_READY_READ and kin.
  FILE_READY,
  NAME_REGISTER,
  NAME_LOOK_UP,
  NAME_REMOVE,
  MEMORY_CREATE,
  MEMORY_MAP,
  MEMORY_UNMAP,
  MEMORY_REMOVE,
  PROCESS_SPAWN,
  PROCESS_WAIT,
  PROCESS_KILL,
  // Of the servers' own threads.
  CHILD_ENDED,
  CONSOLE_INPUT,
};

struct card_request {
  // What the reply has, too.
  uint32_t token;
  uint16_t operation;
  // Where the reply goes, of the sender's tile.
  uint16_t port;
  uint64_t arguments[6];
  char name[NAME_SIZE];
};

struct card_reply {
  uint32_t token, unused;
  // 0 or more, or the negative number of an error of errno.h.
  int64_t result;
  uint64_t values[13];
};

_Static_assert(sizeof(struct card_request) == 120, "a mailbox's message");
_Static_assert(sizeof(struct card_reply) == 120, "a mailbox's message");

// What FILE_ABOUT and FILE_ABOUT_OPEN write.
struct card_file_about {
  uint32_t mode, links;
  uint64_t size, number;
};

// In front of the texts of a PROCESS_SPAWN: the program's file, a text for each action, arguments,
// environment. Each ends with a zero byte.
struct card_spawn {
  uint32_t actions, arguments, environment;
  // Bytes of the texts.
  uint32_t size;
  // Actions follow, and behind them the texts.
};

enum card_spawn_kind { SPAWN_OPEN, SPAWN_CLOSE, SPAWN_DUPLICATE };

struct card_spawn_action {
  uint32_t kind;
  int32_t file;
  // Of SPAWN_OPEN its flags, and of SPAWN_DUPLICATE the file that is the same then.
  int32_t value;
  uint32_t unused;
};

// Bits of a process's status, as the kernel hands it on, beside an exit status.
#define STATUS_EXCEPTION 0x100u
#define STATUS_KILLED 0x200u

// `version` of the start of a program that the servers have started.
#define SPAWNED_VERSION 2

struct card_spawned_start {
  struct flick_program_start start;
  // Texts behind the arguments.
  uint64_t environment;
  // The servers, as the sender of a message.
  uint64_t server;
  uint64_t window;
  // Files, as bits, that are the console for output.
  uint64_t console;
};
