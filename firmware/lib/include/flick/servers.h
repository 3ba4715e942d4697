/* What the servers of a tile do beyond POSIX: names of mailboxes, and memory that programs share
   (docs/card-programs.md). Each function returns -1 and sets errno if it fails; ENOSYS: the program
   runs without servers. */
#pragma once
#include <flick/card.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names have 63 bytes at most. */
#define FLICK_NAME_MAX 63

struct flick_address {
  uint64_t tile, port;
};

/* Gives a mailbox a name, until the program ends or removes it. EEXIST: it is in use. */
int flick_name_register(const char *name, struct flick_address address);
/* Waits until a mailbox has the name. ETIMEDOUT: none has it in time. */
int flick_name_look_up(const char *name, uint64_t until, struct flick_address *address);
/* EPERM: it is another program's. */
int flick_name_remove(const char *name);

/* Makes shared memory, of at most 16 MiB that read as zero. Its name goes when the program ends or
   removes it, and the memory goes when no program maps it either. */
int flick_region_create(const char *name, size_t size);
/* Maps it, and waits until it is there. `rights`: FLICK_READ, or FLICK_WRITE besides. NULL: an
   error. The size is stored if there is a place for it. On tiles whose caches are not coherent, who
   reads what another program has written calls flick_cache_refresh() first. */
void *flick_region_map(const char *name, unsigned rights, uint64_t until, size_t *size);
int flick_region_unmap(void *start);
int flick_region_remove(const char *name);

#ifdef __cplusplus
}
#endif
