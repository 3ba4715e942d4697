/* Flick: placement marks and memory (Apache-2.0 OR MIT).
 *
 * The marks are erasable: under a compiler that is not flick they expand to nothing and this header
 * needs no library. See docs/guide.md. */
#ifndef FLICK_H
#define FLICK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory kinds for flick_alloc. */
#define FLICK_MEM_HOST 0
#define FLICK_MEM_NXP 1

#ifdef __FLICK__

#define FLICK_NXP __attribute__((annotate("flick.nxp")))
/* As FLICK_NXP; a card with several tiles runs the function on that of the name TILE, a string
 * literal. Elsewhere the NxP is one, and takes any name. See docs/card.md, "Several tiles". */
#define FLICK_NXP_ON(tile) __attribute__((annotate("flick.nxp@" tile)))
/* A call of the function is a request to the card's accelerator of the name ACCELERATOR, a string
 * literal. Its parameters are the arrays: as T name[static N], as a reference (C++), or as a
 * pointer with the bytes behind it. It returns nothing, or int: 0 or an errno. Where there is no
 * such accelerator, its body is executed. See docs/host-files.md. */
#define FLICK_ON(accelerator) __attribute__((annotate("flick.on@" accelerator)))
#define FLICK_HOST __attribute__((annotate("flick.host")))
#define FLICK_BOTH __attribute__((annotate("flick.both")))
#define FLICK_NXP_DATA __attribute__((annotate("flick.nxp_data")))
/* As FLICK_NXP_DATA; on a card with several tiles the variable lies in the memory of that of the
 * name TILE, a string literal. Where the machine has no such tile it is its first one's. */
#define FLICK_NXP_DATA_ON(tile) __attribute__((annotate("flick.nxp_data@" tile)))

/* SIZE bytes of the given kind of memory, aligned as malloc does; NULL with errno ENOMEM (EINVAL
 * for an unknown kind). Release with flick_free or free, on either side. */
void *flick_alloc(int kind, size_t size);
void flick_free(void *memory);
/* The same kind of memory as FLICK_MEM_NXP, of the tile of a card that has this name; NULL: of its
 * first. NULL with errno ENOENT where the machine has no such tile. Without a card the NxP is one,
 * and takes any name. realloc leaves the block on its tile. */
void *flick_alloc_on(const char *tile, size_t size);
/* The name of the tile of a card whose memory ADDRESS is; NULL where it is not NxP-local memory,
 * and without a card. */
const char *flick_tile_of(const void *address);
/* The tile of a card for functions without one that the calling thread calls from now on; NULL: the
 * machine's first. Returns 0; or -1 with errno ENOENT, and nothing has changed, where the machine
 * has no tile of this name. Without a card: 0 for any name. */
int flick_prefer(const char *tile);
/* What the next instructions of NxP code need, as FLICK_HINT_* together: on a card the thread goes
 * to a hart that has it, and stays on such harts until its next hint. FLICK_HINT_GENERAL: nothing
 * that only some harts have. Returns 0; or -1 with errno ENOENT where no hart has it, and EINVAL
 * for other bits. Without a card, and in host code, it does nothing. See docs/migration.md,
 * "Hints". */
#define FLICK_HINT_GENERAL 0
#define FLICK_HINT_VECTORS 1
#define FLICK_HINT_FLOATS 2
#define FLICK_HINT_CUSTOM 4
int flick_hint(unsigned what);
/* Virtual time of the calling thread so far, in picoseconds: as the run is, and with all code on
 * the host. Returns 0; or -1 and zeroes without a platform (FLICK_PLATFORM, docs/timing.md). */
struct flick_prediction {
  unsigned long migrating_ps;
  unsigned long staying_ps;
};
int flick_predict(struct flick_prediction *prediction);
/* A file descriptor for what the card has: accelerators "card:/fft", chains of them
 * "card:/fft|mul?kernel=FILE|ifft", files "card:/files/NAME" and pipes "card:/pipes/NAME" of its
 * servers, and chains between files. FLAGS: those of open(2). -1 and errno if it fails; ENODEV
 * without a card. See docs/host-files.md. */
int flick_open(const char *path, int flags);
/* As close(2); also waits until the card has all that was written. -1 and errno if that has failed,
 * as when an accelerator has. Takes any file descriptor. */
int flick_close(int fd);
/* Why the calling thread's last call of these functions has failed. */
const char *flick_error(void);
/* 1 if ADDRESS lies in NxP-local memory (heap, stacks, FLICK_NXP_DATA), else 0. */
int flick_is_nxp_memory(const void *address);

#else

#include <errno.h>
#include <stdlib.h>

#define FLICK_NXP
#define FLICK_NXP_ON(tile)
#define FLICK_ON(accelerator)
#define FLICK_HOST
#define FLICK_BOTH
#define FLICK_NXP_DATA
#define FLICK_NXP_DATA_ON(tile)

static inline void *flick_alloc(int kind, size_t size) {
  if (kind != FLICK_MEM_HOST && kind != FLICK_MEM_NXP) {
    errno = EINVAL;
    return NULL;
  }
  return malloc(size);
}
static inline void flick_free(void *memory) { free(memory); }
static inline void *flick_alloc_on(const char *tile, size_t size) {
  (void)tile;
  return malloc(size);
}
static inline const char *flick_tile_of(const void *address) {
  (void)address;
  return NULL;
}
static inline int flick_prefer(const char *tile) {
  (void)tile;
  return 0;
}
#define FLICK_HINT_GENERAL 0
#define FLICK_HINT_VECTORS 1
#define FLICK_HINT_FLOATS 2
#define FLICK_HINT_CUSTOM 4
static inline int flick_hint(unsigned what) {
  if (what & ~7U) {
    errno = EINVAL;
    return -1;
  }
  return 0;
}
struct flick_prediction {
  unsigned long migrating_ps;
  unsigned long staying_ps;
};
static inline int flick_predict(struct flick_prediction *prediction) {
  prediction->migrating_ps = prediction->staying_ps = 0;
  return -1;
}
static inline int flick_open(const char *path, int flags) {
  (void)path;
  (void)flags;
  errno = ENODEV;
  return -1;
}
/* A program may have a function of its own that is called close. */
int flick_system_close(int fd) __asm__("close");
static inline int flick_close(int fd) { return flick_system_close(fd); }
static inline const char *flick_error(void) { return "the program was not compiled by flick"; }
static inline int flick_is_nxp_memory(const void *address) {
  (void)address;
  return 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
