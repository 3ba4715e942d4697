/* What the parts of libflick-files share. It is code of the host, for programs that reach files,
 * pipes and accelerators of a card (docs/host-files.md). */
#pragma once
#include <flick/card.h>
#include <flick/files.h>
#include <stdbool.h>
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))

/* Those of flick.h, whose names of constants are the card's, too. */
PUBLIC int flick_open(const char *path, int flags);
PUBLIC int flick_close(int number);
PUBLIC const char *flick_error(void);

/* Longest name of an accelerator or a service. */
enum { MOST_NAME = 32 };
/* Longest path for flick_open. */
enum { MOST_PATH = 1024 };

/* libflick: a call of the root role; 0, or an errno. */
extern int __flick_root_call(uint64_t number, const uint64_t arguments[6], uint64_t results[2]);

/* Says why a call of flick.h fails. Returns -1, and sets errno. */
__attribute__((format(printf, 2, 3))) int why(int error, const char *format, ...);
/* The same of a call of the kernel. */
int kernel_error(int64_t result);

/* In front of calls that wait until a time: none has gone by. */
void begin_waiting(void);

/* The tile of an accelerator, or -1 with a reason. */
int64_t find_tile(const char *path, const char *name);

/* Where a stream comes from, and where it goes: the program, or a file of a server. */
struct place {
  bool is_on_card;
  struct flick_files files;
  struct flick_file file;
};

int connect_place(struct place *place, const char *path, const char *stage, int flags);
/* Frees what it has. -1: the last bytes are lost. */
int leave_place(struct place *place);

/* An accelerator of a chain. */
struct stage {
  char name[MOST_NAME + 1];
  char *argument;
  size_t argument_size;
};

enum { MOST_STAGES = 8 };

struct chain {
  char path[MOST_PATH];
  struct stage stages[MOST_STAGES];
  int count;
  struct place from, to;
};

void free_arguments(struct chain *chain);

/* Starts a chain with at least one stage, which its thread has then. A number of a file for the
   program; or -1, and the chain is the caller's. */
int start_chain(struct chain *chain, int flags);
/* The contents of a file as a number, and a number whose bytes go to a file or come from a pipe. */
int open_contents(struct place *place, const char *path, int flags);
int start_copy(struct place *place, const char *path, int flags);

/* A number of the program's that a thread serves. */
struct served {
  struct served *next;
  /* The end of the thread. */
  int end;
  /* The program's end: its number, and its file. */
  int number;
  uint64_t file;
  /* The program reads and does not write: what it does not read is not missed. */
  bool reads;
  bool is_done;
  /* flick_close waits for it. */
  bool is_awaited;
  int error;
  char why[160];
  /* A child of fork frees by it what its copy of the card has for the parent's thread. */
  void (*forget)(void *argument);
  void *argument;
};

/* Makes the two ends of `served`. The program's number, or -1. */
int make_ends(struct served *served, const char *path, int flags);
/* Starts the thread that serves it by `serve`. -1: it does not start, and both ends are closed. */
int start_serving(struct served *served, void *(*serve)(void *), void (*forget)(void *),
                  void *argument);
/* In a child of fork: frees what its copy of the card has for the parent. */
void forget_parent(void);
/* The thread is over: the last it does with `served`. 0, or an error of the program's. */
void end_serving(struct served *served, int error);
