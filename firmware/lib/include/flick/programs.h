/* Programs on other tiles with harts, which the root governs (docs/root.md). A program of the
   root's tile, or of a governed one, starts them. Each function returns -1 and sets errno if it
   fails, as docs/kernel-calls.md says for the call of its name. */
#pragma once
#include <flick/card.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program, by its capability. */
struct flick_placed {
  uint64_t activity;
};

/* Makes a program of a tile with this name: "core1", or "core" for the first one of the kind. It
   has not begun. With `may_move`, it begins on the tile of the same kind that has the fewest, and
   moves to one that has none. */
int flick_placed_create(struct flick_placed *program, const char *tile, bool may_move);
/* Gives it a capability of the caller's. Returns the program's number of it. */
int64_t flick_placed_give(const struct flick_placed *program, uint64_t capability);
/* Starts it with an ELF file, arguments and environment; NULL: an empty one. EINVAL: the file is no
   program. */
int flick_placed_start(const struct flick_placed *program, const void *file, size_t size,
                       char *const argv[], char *const envp[]);
/* The same with the name of a file. */
int flick_placed_start_file(const struct flick_placed *program, const char *path,
                            char *const argv[], char *const envp[]);
/* Waits for its end, until a value of flick_time. `status`: what it ends with, from 256 on for an
   exception. EOWNERDEAD: its tile has stopped. EIO, EINVAL, ENOMEM: it has not started. */
int flick_placed_wait(const struct flick_placed *program, uint64_t until, int *status);
/* Ends it, if it has not ended, and takes its capabilities away. */
int flick_placed_end(struct flick_placed *program);

#ifdef __cplusplus
}
#endif
