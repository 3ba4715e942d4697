/* Pages of an accelerator of requests that are files of a server (docs/accelerators.md): the
   program answers its faults, and the accelerator reads and writes the files by itself. Each
   function returns -1 and sets errno if it fails. */
#pragma once
#include <flick/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ranges of files that an activity reaches at a time: as many as it has endpoints for pages. */
#define FLICK_PAGER_RANGES 5

struct flick_pager {
  uint64_t activity, gate;
  struct {
    /* 0: there is none. */
    uint64_t size;
    uint64_t address, rights;
    struct flick_file file;
  } ranges[FLICK_PAGER_RANGES];
};

/* The activity's faults come to the gate with this label. It has not been started yet. */
int flick_pager_begin(struct flick_pager *pager, uint64_t activity, uint64_t gate, uint64_t label);
/* Pages from an address on are bytes of a file. Address and offset are multiples of 4 KiB, and the
   file has the bytes. Each extent of the file (docs/files.md) takes a range: ENOSPC says that there
   are too few. `flags`: O_RDONLY or O_RDWR. */
int flick_pager_map(struct flick_pager *pager, uint64_t address, struct flick_files *files,
                    const char *path, int flags, off_t offset, uint64_t size);
/* Answers a fault: a message of the gate with the label, and its slot. */
int flick_pager_answer(struct flick_pager *pager, uint64_t slot, const uint64_t message[]);
/* All ranges are free. What the accelerator has written in requests that it has answered is in the
   files. */
int flick_pager_end(struct flick_pager *pager);

#ifdef __cplusplus
}
#endif
